import { z } from "zod";
import { knownProgram, type KnownProgram } from "../chain/game/execution.ts";
import { compile } from "../compiler/compile.ts";
import { withImagePreprocessing, type ImagePreprocessing } from "../onnx/preprocess.ts";
import { readModel } from "../onnx/readModel.ts";
import { UsageError } from "./errors.ts";
import { readJson } from "./settings.ts";

/** A model file, the shapes that it is compiled for, and which inputs are pictures given as bytes. */
export type ModelSpec = {
  path: string;
  shapes: Record<string, readonly number[]>;
  uint8: readonly ImagePreprocessing[];
};

/** Reads and compiles a model. @throws the reader's and the compiler's errors, which name the file and the node */
export function loadProgram({ path, shapes, uint8 }: ModelSpec): KnownProgram {
  const model = uint8.reduce(withImagePreprocessing, readModel(path));
  return knownProgram(compile(model, { shapes }));
}

/** `x=1,48,192,3` @throws UsageError */
export function parseShape(text: string): [name: string, shape: number[]] {
  const match = /^(.+)=(\d+(?:,\d+)*)$/.exec(text);
  if (match === null) throw new UsageError(`--shape ${text}: expected NAME=D0,D1,..., for example x=1,48,192,3`);
  return [match[1]!, match[2]!.split(",").map(Number)];
}

/**
 * `x` or `x,layout=NCHW,scale=1,mean=0.5:0.5:0.5,std=0.2,reverse=true`: a picture input given as bytes. What is left out: NHWC, scale 1/255, mean 0,
 * std 1, channels not reversed.
 * @throws UsageError
 */
export function parseUint8(text: string): ImagePreprocessing {
  const [input = "", ...pairs] = text.split(",");
  const given = Object.fromEntries(
    pairs.map((pair) => {
      const [key = "", value = ""] = pair.split("=");
      return [key, key === "mean" || key === "std" ? value.split(":") : value];
    }),
  );
  const result = uint8Schema.safeParse({ input, ...given });
  if (result.success) return preprocessing(result.data);
  const [issue] = result.error.issues;
  throw new UsageError(`--uint8 ${text}: ${issue!.path.join(".")} ${issue!.message}`);
}

const uint8Schema = z
  .object({
    input: z.string().min(1),
    layout: z.enum(["NHWC", "NCHW"]).default("NHWC"),
    scale: z.coerce
      .number()
      .positive()
      .default(1 / 255),
    mean: z.array(z.coerce.number()).default([0]),
    std: z.array(z.coerce.number().positive()).default([1]),
    reverse: z.union([z.boolean(), z.enum(["true", "false"]).transform((text) => text === "true")]).default(false),
  })
  .strict();

function preprocessing({ reverse, ...rest }: z.output<typeof uint8Schema>): ImagePreprocessing {
  return { ...rest, reverseChannels: reverse };
}

const modelsSchema = z
  .array(
    z
      .object({
        path: z.string(),
        shapes: z.record(z.array(z.number().int().positive())).default({}),
        uint8: z.array(uint8Schema).default([]),
      })
      .strict(),
  )
  .min(1);

/** Reads a models file: a JSON array of `{path, shapes, uint8}`. @throws UsageError */
export function readModels(path: string): ModelSpec[] {
  const result = modelsSchema.safeParse(readJson(path, "models file"));
  if (result.success) return result.data.map((spec) => ({ ...spec, uint8: spec.uint8.map(preprocessing) }));
  const [issue] = result.error.issues;
  throw new UsageError(`models file ${path}: ${issue!.path.join(".")}: ${issue!.message}`);
}
