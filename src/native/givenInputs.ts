import { readdirSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { dtypeBytes, dtypeName, isFloat, type DType } from "../numerics/dtype.ts";
import { isTensorFile, readInputFile } from "../model/onnx/inputs/readInputFile.ts";
import { elementCount } from "../model/onnx/model.ts";
import type { TensorInfo } from "../program/compiled.ts";
import { extremes, usualRange, type Box, type InputRange } from "./inputRange.ts";
import { roundedTo } from "./elements.ts";
import { CalibrationError } from "./errors.ts";

/** A set of inputs, and its source path. */
type GivenInputs = { path: string; bytes: readonly Uint8Array[] };

/**
 * Reads a folder's sets of inputs. Each subfolder gives one set, with a file for each input: `NAME.npy`, `NAME.pb` or
 * `NAME.json`. For a model with one input, each such file in the folder itself also gives a set.
 * @throws CalibrationError, InputFileError
 */
export function readGivenInputs(folder: string, inputs: readonly TensorInfo[]): GivenInputs[] {
  const sets: GivenInputs[] = [];
  for (const entry of entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) sets.push({ path, bytes: inputs.map((input) => readOne(input, fileOf(input, path))) });
    else if (isTensorFile(entry.name)) {
      const [input, second] = inputs;
      if (input === undefined || second !== undefined)
        throw new CalibrationError(
          `${path}: the model has ${inputs.length} inputs: give a folder for each set of them`,
        );
      sets.push({ path, bytes: [readOne(input, path)] });
    }
  }
  if (sets.length === 0)
    throw new CalibrationError(`${folder} holds no inputs: expected files or folders with .npy, .pb or .json files`);
  return sets;
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (cause) {
    const { code = "unknown" } = cause as NodeJS.ErrnoException;
    throw new CalibrationError(`${folder} cannot be read (${code}): give a folder of inputs`, { cause });
  }
}

function fileOf({ name }: TensorInfo, folder: string): string {
  const found = entriesOf(folder).find(
    (file) => isTensorFile(file.name) && basename(file.name, extname(file.name)) === name,
  );
  if (found === undefined) throw new CalibrationError(`${folder} has no ${name}.npy, ${name}.pb or ${name}.json`);
  return join(folder, found.name);
}

function readOne(input: TensorInfo, path: string): Uint8Array {
  const { bytes } = readInputFile(input, path);
  const expected = elementCount(input.shape) * dtypeBytes(input.dtype);
  if (bytes.length === expected) return bytes;
  const shape = `[${input.shape.join(", ")}]`;
  throw new CalibrationError(`${path} has ${bytes.length} bytes, the input ${input.name} ${shape} takes ${expected}`);
}

/**
 * Returns the box for a calibration. An input's range comes from the request, otherwise from the given inputs,
 * otherwise from the usual range. One-byte types get all their values.
 * @param maxOf An input's largest allowed range, which becomes the range if nothing else is known. If absent, any
 *   range is allowed.
 * @throws CalibrationError if a given input lies outside a requested range, or is NaN or infinite
 */
export function boxFor(
  inputs: readonly TensorInfo[],
  given: readonly GivenInputs[],
  asked: ReadonlyMap<string, { low: number; high: number }>,
  maxOf?: (input: TensorInfo) => InputRange,
): Box {
  return inputs.map((input, i): InputRange => {
    const { name, dtype } = input;
    const max = maxOf?.(input);
    const usual = max ?? usualRange(input);
    const wanted = asked.has(name) ? typedRange(name, dtype, asked.get(name)!) : undefined;
    let seen: { low: number; high: number } | undefined;
    for (const { path, bytes } of given) {
      const { low, high } = extremes(bytes[i]!, dtype);
      if (!Number.isFinite(low) || !Number.isFinite(high))
        throw new CalibrationError(`${path}: ${name} has a NaN or an infinity, for which nothing is calibrated`);
      if (wanted !== undefined && !(low >= wanted.low && high <= wanted.high))
        throw new CalibrationError(
          `${path}: ${name} goes from ${low} to ${high}, outside the range of ${wanted.low} to ${wanted.high}`,
        );
      seen = { low: Math.min(low, seen?.low ?? low), high: Math.max(high, seen?.high ?? high) };
    }
    const chosen = wanted ?? (dtypeBytes(dtype) === 1 ? undefined : seen);
    if (chosen === undefined) return usual;
    if (max !== undefined && !(chosen.low >= max.low && chosen.high <= max.high))
      throw new CalibrationError(
        `the range ${chosen.low} to ${chosen.high} of ${name}: expected one from ${max.low} to ${max.high}`,
      );
    return { ...usual, ...chosen };
  });
}

/**
 * Returns a range with ends in the input's type. @throws CalibrationError for integers, if an end does not fit the type
 */
function typedRange(name: string, dtype: DType, { low, high }: { low: number; high: number }) {
  const rounded = { low: roundedTo(low, dtype), high: roundedTo(high, dtype) };
  const isExact = rounded.low === low && rounded.high === high;
  if (isExact || (isFloat(dtype) && Number.isFinite(rounded.high - rounded.low))) return rounded;
  throw new CalibrationError(
    `the range ${low} to ${high} of ${name}: expected numbers of the type ${dtypeName(dtype)}`,
  );
}
