import { z } from "zod";
import { knownProgram, type KnownProgram } from "../player/execution.ts";
import type { CompileLimits } from "../compiler/budget.ts";
import { compile } from "../compiler/compile.ts";
import { bindInputs } from "../onnx/bindInputs.ts";
import type { Model, TensorData } from "../onnx/model.ts";
import { withImagePreprocessing, type ImagePreprocessing } from "../onnx/preprocess.ts";
import { readModel } from "../onnx/readModel.ts";
import { MAX_STEP_BYTES } from "../program/limits.ts";
import { UsageError } from "./errors.ts";
import { boundTensors } from "../onnx/inputs/boundTensors.ts";
import { requireInput } from "./inputs.ts";
import { stepProgress } from "./progress.ts";
import { readJson } from "./settings.ts";

/** A model file and all that decides which program it becomes. */
export type ModelSpec = {
  path: string;
  /** The shapes that it is compiled for, by input. */
  shapes: Record<string, readonly number[]>;
  /** Inputs that are known at compile time: a JSON value, or the name of a .pb, .npy or .json file. */
  bind: Readonly<Record<string, unknown>>;
  /** Which inputs are pictures given as bytes. */
  uint8: readonly ImagePreprocessing[];
  /** Bytes of the largest transaction with a step proof, if not the compiler's default. */
  stepByteLimit?: number | undefined;
  /** Of random operators; without it they are refused. */
  seed?: bigint | undefined;
  /** What compiling may take, if not the compiler's defaults. */
  limits?: Partial<CompileLimits> | undefined;
};

/** A model ready to compile, and the tensors that were bound to inputs of its file. */
export type LoadedModel = { model: Model; bound: ReadonlyMap<string, TensorData> };

/**
 * Reads a model, binds what is known at compile time, and puts the preprocessing of pictures before it.
 * @throws the reader's errors
 */
export const loadModel = (spec: Pick<ModelSpec, "path" | "bind" | "uint8" | "limits">): LoadedModel =>
  prepareModel(readModel(spec.path, { mib: spec.limits?.mib }), spec);

/** The same of a model that is read already. */
export function prepareModel(own: Model, { bind, uint8 }: Pick<ModelSpec, "bind" | "uint8">): LoadedModel {
  for (const name of Object.keys(bind)) requireInput(own, name);
  const bound = boundTensors(own, bind);
  return { model: uint8.reduce(withImagePreprocessing, bindInputs(own, bound)), bound };
}

/** Reads and compiles a model. @throws the reader's and the compiler's errors, which name the file and the node */
export function loadProgram(spec: ModelSpec): KnownProgram {
  return knownProgram(compile(loadModel(spec).model, { ...spec, progress: stepProgress("compiling node") }));
}

/** `x=1,48,192,3`; `x=` is a scalar. @throws UsageError */
export function parseShape(text: string): [name: string, shape: number[]] {
  const match = /^(.+)=((?:\d+(?:,\d+)*)?)$/.exec(text);
  if (match === null) throw new UsageError(`--shape ${text}: expected NAME=D0,D1,..., for example x=1,48,192,3`);
  return [match[1]!, match[2] === "" ? [] : match[2]!.split(",").map(Number)];
}

/** `sr=16000`, `axes=[0,1]` or `mask=mask.npy`. @throws UsageError */
export function parseBinding(text: string): [name: string, value: unknown] {
  const match = /^(.+?)=(.+)$/s.exec(text);
  if (match === null) throw new UsageError(`--bind ${text}: expected NAME=VALUE or NAME=FILE, for example sr=16000`);
  const [, name, value] = match as unknown as [string, string, string];
  if (/\.(pb|npy|json)$/.test(value)) return [name, value];
  try {
    return [name, JSON.parse(value)];
  } catch (cause) {
    throw new UsageError(`--bind ${text}: expected a JSON value, or a file that ends in .pb, .npy or .json`, { cause });
  }
}

/** A seed of random operators: a whole number of up to 64 bits. @throws UsageError */
export function parseSeed(text: string): bigint {
  const seed = /^\d{1,20}$/.test(text) ? BigInt(text) : -1n;
  if (seed < 0n || seed >= 1n << 64n) throw new UsageError(`--seed ${text}: expected a whole number below 2^64`);
  return seed;
}

/** The bytes that a transaction with a step proof may have. @throws UsageError */
export function parseStepBytes(text: string): number {
  const bytes = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (bytes < 1 || bytes > MAX_STEP_BYTES)
    throw new UsageError(`--step-bytes ${text}: expected a whole number from 1 to ${MAX_STEP_BYTES}`);
  return bytes;
}

/** A limit of a compilation: a whole number above 0. @throws UsageError */
export function parseLimit(text: string): number {
  const limit = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (limit < 1) throw new UsageError(`a limit of ${text}: expected a whole number above 0`);
  return limit;
}

/**
 * `x` or `x,layout=NCHW,scale=1,mean=0.5:0.5:0.5,std=0.2,reverse=true`: a picture input given as bytes. What is left
 * out: NHWC, scale 1/255, mean 0, std 1, channels not reversed.
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

const limitSchema = z.number().int().positive().optional();

const modelsSchema = z
  .array(
    z
      .object({
        path: z.string(),
        shapes: z.record(z.array(z.number().int().positive())).default({}),
        bind: z.record(z.unknown()).default({}),
        uint8: z.array(uint8Schema).default([]),
        stepBytes: z.number().int().min(1).max(MAX_STEP_BYTES).optional(),
        limits: z
          .object({ seconds: limitSchema, mib: limitSchema, nodes: limitSchema, foldElements: limitSchema })
          .strict()
          .optional(),
        seed: z.union([z.number(), z.string()]).transform(String).transform(parseSeed).optional(),
      })
      .strict(),
  )
  .min(1);

/** Reads a models file: a JSON array of `{path, shapes, bind, uint8, stepBytes, limits, seed}`. @throws UsageError */
export function readModels(path: string): ModelSpec[] {
  const result = modelsSchema.safeParse(readJson(path, "models file"));
  if (result.success)
    return result.data.map(({ stepBytes, uint8, ...spec }) => ({
      ...spec,
      uint8: uint8.map(preprocessing),
      stepByteLimit: stepBytes,
    }));
  const [issue] = result.error.issues;
  throw new UsageError(`models file ${path}: ${issue!.path.join(".")}: ${issue!.message}`);
}
