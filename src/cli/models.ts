import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { z } from "zod/v4";
import { besidePlain } from "../examine/check/besidePlain.ts";
import { checkDecoder } from "../native/plain/decoder/checkDecoder.ts";
import type { CompiledModel } from "../program/compiled.ts";
import { knownProgram, type KnownProgram } from "../dispute/run/execution.ts";
import { compile } from "../compiler/compile.ts";
import type { DrawnInput } from "../compiler/wraps/withDrawnInputs.ts";
import { decideText, parseDecideSpec, type DecideSpec } from "../model/decision/decideSpec.ts";
import type { ImagePreprocessing } from "../model/onnx/preprocess.ts";
import {
  compileOptions,
  modelSpecOf,
  preprocessingOf,
  seedSchema,
  uint8Schema,
} from "../runs/programs/compileOptions.ts";
import { loadModel, type LoadedModel, type ModelSpec } from "../compiler/wraps/modelSpec.ts";
import { UsageError } from "./errors.ts";
import type { Output } from "./output.ts";
import { compileProgress } from "./progress.ts";
import { readJson } from "./settings.ts";

/** Reads and compiles a model. @throws the reader's and the compiler's errors, which name the file and the node */
export function loadProgram(spec: ModelSpec, output: Output): KnownProgram & { loaded: LoadedModel } {
  const loaded = loadModel(spec);
  const progress = compileProgress(output.progress("compiling node"));
  return { ...knownProgram(compile(loaded.model, { ...spec, run: loaded.run, progress })), loaded };
}

/**
 * Compares a wrapped decoder with the model in plain onnxruntime, and reports the comparison; does nothing for other
 * models.
 * @throws DecoderError if they differ
 */
export async function checkIfDecoder(
  path: string,
  wrapped: CompiledModel,
  { decoder, bound }: LoadedModel,
  output: Output,
): Promise<void> {
  if (decoder === undefined) return;
  const { tokens, difference } = await checkDecoder(path, wrapped, decoder, { bound });
  output.note(
    `logits of ${tokens} random tokens are those of the model in plain onnxruntime, but for ` +
      `${(100 * difference).toPrecision(2)} % of their spread`,
  );
}

/**
 * Executes the program on a random input beside the model's file in plain onnxruntime, where that is installed, and
 * warns of large differences. Programs with inputs or outputs of their own are left out.
 */
export async function warnIfPlainDiffers(
  spec: ModelSpec,
  model: CompiledModel,
  { bound, run, decoder }: LoadedModel,
  output: Output,
): Promise<void> {
  const { uint8, decide, drawn, noise, train, lengths, seed, seedInput } = spec;
  const own = [decide, drawn, noise, lengths].some((all) => Object.keys(all ?? {}).length > 0);
  if (own || uint8.length > 0 || [run, decoder, train, seed, seedInput].some((one) => one !== undefined)) return;
  const lines = await besidePlain(spec.path, model, bound);
  if (lines === undefined || lines.length === 0) return;
  output.warn(
    `on a random input plain onnxruntime gives other outputs (${lines.slice(0, 3).join("; ")}): look at the model ` +
      "with refute run --compare before you use its results",
  );
}

/** `x=1,48,192,3`; `x=` is a scalar. @throws UsageError */
export function parseShape(text: string): [name: string, shape: number[]] {
  const match = /^(.+)=((?:\d+(?:,\d+)*)?)$/.exec(text);
  if (match === null) throw new UsageError(`--shape ${text}: expected NAME=D0,D1,..., for example x=1,48,192,3`);
  return [match[1]!, match[2] === "" ? [] : match[2]!.split(",").map((size) => sizeOf(size, `--shape ${text}`))];
}

/** @throws UsageError for a size that no tensor has, and that JavaScript's numbers may round */
function sizeOf(digits: string, flag: string): number {
  const size = Number(digits);
  if (size < 2 ** 32) return size;
  throw new UsageError(`${flag}: the size ${digits} is 2^32 or more, and a tensor has fewer elements`);
}

/** `sr=16000`, `axes=[0,1]` or `mask=mask.npy`. @throws UsageError */
export function parseBinding(text: string): [name: string, value: unknown] {
  if (!/.=./s.test(text))
    throw new UsageError(`--bind ${text}: expected NAME=VALUE or NAME=FILE, for example sr=16000`);
  let reason: unknown;
  let file: [name: string, value: string] | undefined;
  // A name may have an equals sign too: the first sign with a value or an existing file behind it counts, else the last
  // with a file's name. The model's names decide in the end (`bindingsByName`).
  for (let at = text.indexOf("=", 1); at > 0 && at < text.length - 1; at = text.indexOf("=", at + 1)) {
    const [name, value] = [text.slice(0, at), text.slice(at + 1)];
    if (isFileName(value)) file = [name, value];
    if (file?.[1] === value && existsSync(value)) return file;
    try {
      return [name, JSON.parse(value)];
    } catch (cause) {
      reason ??= cause;
    }
  }
  if (file !== undefined) return file;
  throw new UsageError(`--bind ${text}: expected a JSON value, or a file that ends in .pb, .npy or .json`, {
    cause: reason,
  });
}

/** `input=output`. Names may have equals signs: the model's names decide (`carriedByName`). @throws UsageError */
export function parseCarry(text: string): [input: string, output: string] {
  const match = /^(.+)=(.+)$/s.exec(text);
  if (match === null) throw new UsageError(`--carry ${text}: expected INPUT=OUTPUT, for example past=present`);
  return [match[1]!, match[2]!];
}

/** `scores=argmax`, `scores=top5` or `price=round=2`. @throws UsageError, DecideError */
export function parseDecide(text: string): [output: string, spec: DecideSpec] {
  const match = /^(.+?)=((?:argmax|top\d*|round(?:=.*)?))$/.exec(text) ?? /^(.+)=(.*)$/.exec(text);
  if (match === null) throw new UsageError(`--decide ${text}: expected OUTPUT=DECISION, for example scores=argmax`);
  return [match[1]!, parseDecideSpec(match[2]!)];
}

/** Writes a decision for `parseDecide`. */
export const decideFlag = (output: string, spec: DecideSpec): string => `${output}=${decideText(spec)}`;

/** `x=-1:1` or `x[1,3,48,192]=-1:1`. @throws UsageError */
export function parseDrawn(text: string): [input: string, range: DrawnInput] {
  const match = /^(.+?)(?:\[(\d+(?:,\d+)*)\])?=([^:=]+):([^:]+)$/.exec(text);
  const [low, high] = [Number(match?.[3]), Number(match?.[4])];
  if (match === null || Number.isNaN(low) || Number.isNaN(high))
    throw new UsageError(`--drawn ${text}: expected INPUT=LOW:HIGH, for example x=-1:1 or x[1,3,48,192]=-1:1`);
  const shape = match[2]?.split(",").map((size) => sizeOf(size, `--drawn ${text}`));
  return [match[1]!, { low, high, ...(shape !== undefined && { shape }) }];
}

/** Writes a range for `parseDrawn`. */
export const drawnFlag = (input: string, { low, high, shape }: DrawnInput): string =>
  `${input}${shape === undefined ? "" : `[${shape.join(",")}]`}=${low}:${high}`;

/** `x=0.1`. @throws UsageError */
export function parseNoise(text: string): [input: string, scale: number] {
  const match = /^(.+)=([^=]+)$/.exec(text);
  const scale = Number(match?.[2]);
  if (match === null || !(scale > 0)) throw new UsageError(`--noise ${text}: expected INPUT=SCALE, for example x=0.1`);
  return [match[1]!, scale];
}

/** `seq=3`. @throws UsageError */
export function parseLength(text: string): [input: string, length: number] {
  const match = /^(.+)=(\d{1,9})$/.exec(text);
  if (match === null) throw new UsageError(`--length ${text}: expected INPUT=N, for example seq=3`);
  return [match[1]!, Number(match[2])];
}

/** `sequence=128`, or several sizes, `sequence=64,128`. @throws UsageError */
export function parseDimension(text: string): [name: string, sizes: number[]] {
  const match = /^(.+)=([1-9]\d{0,8}(?:,[1-9]\d{0,8})*)$/.exec(text);
  if (match === null) throw new UsageError(`--dim ${text}: expected NAME=N, for example sequence=128`);
  return [match[1]!, match[2]!.split(",").map(Number)];
}

/** Writes a value for `parseBinding`. */
export const bindingText = (value: unknown): string =>
  typeof value === "string" && isFileName(value) ? value : JSON.stringify(value);

const isFileName = (text: string): boolean => /\.(pb|npy|json)$/.test(text);

/** Types that have another name in schemas. */
const TYPES: Readonly<Record<string, string>> = { int: "a whole number", record: "an object", array: "an array" };

/** Returns a schema's finding in words for people. */
function issueText(issue: z.core.$ZodIssue): string {
  const where = issue.path.length === 0 ? "" : `${issue.path.join(".")}: `;
  if (issue.code === "unrecognized_keys") return `${where}${issue.keys.join(", ")} is not known here`;
  if (issue.code === "invalid_type") return `${where}expected ${TYPES[issue.expected] ?? `a ${issue.expected}`}`;
  return `${where}${issue.message}`;
}

/** A seed of random operators: a whole number of up to 64 bits. @throws UsageError */
export function parseSeed(text: string): bigint {
  const result = seedSchema.safeParse(text);
  if (result.success) return result.data;
  throw new UsageError(`--seed ${text}: ${result.error.issues[0]!.message}`);
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
  if (result.success) return preprocessingOf(result.data);
  const [issue] = result.error.issues;
  throw new UsageError(`--uint8 ${text}: ${issueText(issue!)}`);
}

/** Writes a picture's preprocessing for `parseUint8`. */
export const uint8Text = ({ input, layout, scale, mean, std, reverseChannels = false }: ImagePreprocessing): string =>
  [input, `layout=${layout}`, `scale=${scale}`, `mean=${mean.join(":")}`, `std=${std.join(":")}`].join() +
  `,reverse=${reverseChannels}`;

const limitSchema = z.number().int().positive().optional();
const limitsSchema = z
  .object({ seconds: limitSchema, mib: limitSchema, nodes: limitSchema, foldElements: limitSchema })
  .strict()
  .optional();

const modelsSchema = z.array(z.object({ path: z.string(), limits: limitsSchema, ...compileOptions }).strict()).min(1);

/**
 * Reads a models file: a JSON array of `{path, shapes, dims, bind, lengths, uint8, decide, drawn, noise, train, run,
 * decoder, stepBytes, limits, seed, seedInput}`. Paths are relative to the file's folder, and absolute in the answer.
 * @throws UsageError
 */
export function readModels(path: string): ModelSpec[] {
  const result = modelsSchema.safeParse(readJson(path, "models file"));
  const beside = (file: string): string => resolve(dirname(path), file);
  if (result.success)
    return result.data.map(({ path: model, limits, ...options }) => {
      const spec = modelSpecOf(beside(model), options);
      const bind = Object.entries(spec.bind).map(([name, value]) => [
        name,
        typeof value === "string" ? beside(value) : value,
      ]);
      return { ...spec, bind: Object.fromEntries(bind) as ModelSpec["bind"], limits };
    });
  const [issue] = result.error.issues;
  throw new UsageError(`models file ${path}: ${issueText(issue!)}`);
}
