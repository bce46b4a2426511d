import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { RunWiring } from "../compiler/runWiring.ts";
import { concatenated } from "../program/merkle/concatenated.ts";
import type { Model, TensorData, ValueInfo } from "../model/onnx/model.ts";
import { InputFileError } from "../model/onnx/inputs/errors.ts";
import { isTensorFile, readInputFile } from "../model/onnx/inputs/readInputFile.ts";
import { dtypeBytes, dtypeName } from "../numerics/dtype.ts";
import type { TensorInfo } from "../program/compiled.ts";
import { readRegularFile } from "../base/regularFile.ts";
import { UsageError } from "./errors.ts";
import type { LoadedModel } from "../compiler/wraps/modelSpec.ts";
import { filesByName, missingInput, onlyFile } from "./inputs.ts";

/** The maximum bytes of an input: those of a tensor. */
const MAX_INPUT_BYTES = 2 ** 29;
const KINDS = ".npy, .pb, .json or, for plain bytes, .bin";

/** A job's input: a tensor, or bytes from a file without type and shape. */
type JobInput = { path: string } & ({ tensor: TensorData } | { bytes: Uint8Array });

/**
 * A job's inputs, by name: one file per input; for an input that each item has separately, a file per item; no index.
 */
type JobInputs = ReadonlyMap<string, readonly JobInput[]>;

/**
 * Reads all inputs of a job. A file whose name ends in .npy, .pb or .json is a tensor, a file named .bin holds the
 * input's bytes: little-endian, row-major. Other files are refused: any file of the right length would be
 * paid for. An input that each item has separately takes several files, or a folder with files in name order.
 * @param hasParts True if items are computed in parts: carried state then also takes a file per part.
 * @param drawn Inputs that may be left out, because they are drawn for each item.
 * @throws UsageError if an input is missing; InputFileError
 */
export function readJobInputs(
  model: Model,
  run: RunWiring | undefined,
  given: readonly string[],
  hasParts = false,
  drawn: readonly string[] = [],
): JobInputs {
  const files = filesByName(model, given);
  const inputs = new Map<string, JobInput[]>();
  for (const input of model.graph.inputs) {
    const { name } = input;
    const paths = files.get(name);
    if (run?.index?.includes(name) === true) {
      if (paths !== undefined) throw new UsageError(`--input ${name}=${paths[0]}: ${name} is the number of the item`);
      continue;
    }
    // State that is carried begins with zeros.
    const isCarried = Object.hasOwn(run?.carried ?? {}, name);
    if (paths === undefined && (isCarried || drawn.includes(name))) continue;
    if (paths === undefined) throw missingInput(name, KINDS);
    const isEach = run?.batch === true || run?.each?.includes(name) === true;
    const all =
      isEach || (isCarried && hasParts) ? paths.flatMap((path) => filesOf(name, path)) : [onlyFile(name, paths)];
    inputs.set(
      name,
      all.map((path) => jobInput(input, path)),
    );
  }
  return inputs;
}

/**
 * Returns the number of a job's items.
 * @param wanted As the user gives it.
 * @throws UsageError if inputs that each item has separately differ in number, or if the number is not the wanted
 *   number
 */
export function itemsOf(inputs: JobInputs, run: RunWiring | undefined, wanted: number | undefined): number {
  let items = wanted;
  let says = `--items ${wanted}`;
  for (const [name, { length }] of inputs) {
    if (run?.batch !== true && run?.each?.includes(name) !== true) continue;
    if (items !== undefined && items !== length)
      throw new UsageError(`input ${name} has ${length} files, but ${says}: each item takes one`);
    [items, says] = [length, `${name} has ${length}`];
  }
  return items ?? 1;
}

/** A file itself, or the files of a folder. */
function filesOf(name: string, path: string): string[] {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return [path];
  let names: string[];
  try {
    names = readdirSync(path).filter((file) => !file.startsWith("."));
  } catch (cause) {
    throw new InputFileError(path, "is a folder that cannot be read", { cause });
  }
  if (names.length === 0) throw new UsageError(`--input ${name}=${path}: the folder has no files`);
  return names.sort(byName).map((file) => join(path, file));
}

/** By numbers in names as numbers: picture 2 comes before picture 10. */
const { compare: byName } = new Intl.Collator("en", { numeric: true });

function jobInput(input: ValueInfo, path: string): JobInput {
  if (isTensorFile(path)) return { path, tensor: readInputFile(input, path) };
  // A text of the right length would be taken for numbers, and paid for.
  if (!/\.bin$/i.test(path))
    throw new InputFileError(path, `is of no known kind: expected a name that ends in ${KINDS}`);
  try {
    return { path, bytes: readRegularFile(path, MAX_INPUT_BYTES) };
  } catch (cause) {
    throw new InputFileError(path, `cannot be read: it ${(cause as Error).message}`, { cause });
  }
}

/** Returns the shapes given by the files of a job's inputs. */
export const shapesOfJob = (inputs: JobInputs): Record<string, readonly number[]> =>
  Object.fromEntries(
    [...inputs].flatMap(([name, [input]]) =>
      input !== undefined && "tensor" in input ? [[name, input.tensor.shape]] : [],
    ),
  );

/**
 * Returns the bytes of a job's inputs, in program order: all items' bytes one after the other, zeros for a carried or
 * drawn input that was not given; the model's weights where training changes them.
 * @throws InputFileError if an input does not match the program's tensor
 */
export const jobBytes = (
  inputs: JobInputs,
  { run, training }: Pick<LoadedModel, "run" | "training">,
  taken: readonly TensorInfo[],
): Uint8Array[] =>
  taken.map((info) => {
    const given = inputs.get(info.name);
    if (given !== undefined) return concatenated(given.map((input) => bytesOf(input, info)));
    const initial = training?.initial.get(info.name);
    if (initial !== undefined) return initial.bytes;
    return new Uint8Array(run?.index?.includes(info.name) === true ? 0 : sizeOf(info));
  });

const sizeOf = ({ dtype, shape }: TensorInfo): number =>
  shape.reduce((product, extent) => product * extent, dtypeBytes(dtype));

function bytesOf(input: JobInput, info: TensorInfo): Uint8Array {
  const { name, dtype, shape } = info;
  const expected = `the program takes ${dtypeName(dtype)}[${shape.join(", ")}]`;
  if ("tensor" in input) {
    const { tensor, path } = input;
    if (tensor.shape.join() !== shape.join())
      throw new InputFileError(path, `has the shape [${tensor.shape.join(", ")}], but of input ${name} ${expected}`);
    return tensor.bytes;
  }
  const size = sizeOf(info);
  if (input.bytes.length === size) return input.bytes;
  throw new InputFileError(
    input.path,
    `has ${input.bytes.length} bytes, but of input ${name} ${expected}, ${size} bytes: give a tensor as .npy, .pb ` +
      "or .json, or the bytes as .bin, little-endian and row-major",
  );
}
