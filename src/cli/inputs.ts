import type { Model, TensorData } from "../onnx/model.ts";
import { InputFileError } from "../onnx/inputs/errors.ts";
import { isTensorFile, readInputFile } from "../onnx/inputs/readInputFile.ts";
import { dtypeBytes, dtypeName } from "../numerics/dtype.ts";
import type { TensorInfo } from "../program/compiled.ts";
import { readRegularFile } from "../regularFile.ts";
import { UsageError } from "./errors.ts";
import type { ModelOptions } from "./modelOptions.ts";

/** @throws UsageError if the model has no input of a name */
export function requireInput({ graph }: Model, name: string): void {
  requireName(
    graph.inputs.map((input) => input.name),
    name,
  );
}

/** @throws UsageError if a name is not one of the model's inputs */
export function requireName(names: readonly string[], name: string): void {
  if (!names.includes(name)) throw new UsageError(`the model has no input ${name}; its inputs are ${names.join(", ")}`);
}

/** The inputs that the flags of a model name. */
export const givenNames = ({ shape = {}, bind = {}, uint8 = [] }: ModelOptions): string[] => [
  ...Object.keys(shape),
  ...Object.keys(bind),
  ...uint8.map(({ input }) => input),
];

/** Splits `NAME=FILE`s by name. @throws UsageError if one is malformed, or names no input of the model. */
export function inputFiles(model: Model, given: readonly string[]): Map<string, string> {
  const files = new Map<string, string>();
  for (const text of given) {
    const at = text.indexOf("=");
    if (at < 1) throw new UsageError(`--input ${text}: expected NAME=FILE`);
    const name = text.slice(0, at);
    requireInput(model, name);
    if (files.has(name)) throw new UsageError(`--input ${text}: ${name} is given already`);
    files.set(name, text.slice(at + 1));
  }
  return files;
}

/** Reads all inputs of a model. @param kinds Of files, for the error. @throws UsageError if one is missing */
function readEach<T>(
  model: Model,
  given: readonly string[],
  kinds: string,
  read: (input: Model["graph"]["inputs"][number], path: string) => T,
): Map<string, T> {
  const files = inputFiles(model, given);
  return new Map(
    model.graph.inputs.map((input) => {
      const path = files.get(input.name);
      if (path === undefined)
        throw new UsageError(`input ${input.name} is missing: give --input ${input.name}=FILE (${kinds})`);
      return [input.name, read(input, path)] as const;
    }),
  );
}

/** All inputs of a model. @throws UsageError if one is missing; InputFileError */
export const readInputs = (model: Model, given: readonly string[]): Map<string, TensorData> =>
  readEach(model, given, ".pb, .npy or .json", readInputFile);

/** The maximum bytes of an input: those of a tensor. */
const MAX_INPUT_BYTES = 2 ** 29;

/** An input of a job: a tensor, or bytes of which the file says neither type nor shape. */
export type JobInput = { path: string } & ({ tensor: TensorData } | { bytes: Uint8Array });

/**
 * All inputs of a job. A file whose name ends in .npy, .pb or .json is a tensor, any other the input's bytes:
 * little-endian, row-major.
 * @throws UsageError if one is missing; InputFileError
 */
export const readJobInputs = (model: Model, given: readonly string[]): Map<string, JobInput> =>
  readEach(model, given, ".npy, .pb, .json, or its bytes", jobInput);

function jobInput(input: Model["graph"]["inputs"][number], path: string): JobInput {
  if (isTensorFile(path)) return { path, tensor: readInputFile(input, path) };
  try {
    return { path, bytes: readRegularFile(path, MAX_INPUT_BYTES) };
  } catch (cause) {
    throw new InputFileError(path, `cannot be read: it ${(cause as Error).message}`, { cause });
  }
}

/** The shapes that the files of a job's inputs give. */
export const shapesOfJob = (inputs: ReadonlyMap<string, JobInput>): Record<string, readonly number[]> =>
  Object.fromEntries([...inputs].flatMap(([name, input]) => ("tensor" in input ? [[name, input.tensor.shape]] : [])));

/**
 * The bytes of a job's inputs, in the program's order.
 * @throws InputFileError if one is no such tensor as the program takes
 */
export const jobBytes = (inputs: ReadonlyMap<string, JobInput>, taken: readonly TensorInfo[]): Uint8Array[] =>
  taken.map(({ name, dtype, shape }) => {
    const input = inputs.get(name)!;
    const expected = `the program takes ${dtypeName(dtype)}[${shape.join(", ")}]`;
    if ("tensor" in input) {
      const { tensor, path } = input;
      if (tensor.shape.join() !== shape.join())
        throw new InputFileError(path, `has the shape [${tensor.shape.join(", ")}], but of input ${name} ${expected}`);
      return tensor.bytes;
    }
    const size = shape.reduce((product, extent) => product * extent, dtypeBytes(dtype));
    if (input.bytes.length === size) return input.bytes;
    throw new InputFileError(
      input.path,
      `has ${input.bytes.length} bytes, but of input ${name} ${expected}, ${size} bytes: give a tensor as .npy, .pb ` +
        "or .json, or the bytes, little-endian and row-major",
    );
  });
