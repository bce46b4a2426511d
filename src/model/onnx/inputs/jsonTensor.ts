import { numberWord, wordNumber } from "../../../numerics/numbers.ts";
import { DType, dtypeBytes, dtypeName, isFloat, isSigned, writeWord } from "../../../numerics/dtype.ts";
import { elementCount, type TensorData } from "../model.ts";
import { InputFileError } from "./errors.ts";

/**
 * Reads a tensor from JSON: nested arrays with numbers (64-bit integers beyond 2^53 as strings) or booleans. The
 * nesting gives the shape. Numbers for float inputs are rounded to the type.
 * @param path For messages.
 * @throws InputFileError
 */
export function jsonTensor(json: unknown, dtype: DType, path: string): TensorData {
  const shape: number[] = [];
  for (let level = json; Array.isArray(level); level = (level as unknown[])[0]) shape.push(level.length);
  const flat: unknown[] = [];
  const flatten = (value: unknown, depth: number): void => {
    if (!Array.isArray(value)) {
      if (depth !== shape.length) throw new InputFileError(path, "has arrays of unequal depth");
      flat.push(value);
      return;
    }
    if (value.length !== shape[depth]) throw new InputFileError(path, "has arrays of unequal length");
    for (const item of value) flatten(item, depth + 1);
  };
  flatten(json, 0);
  const bytes = new Uint8Array(elementCount(shape) * dtypeBytes(dtype));
  flat.forEach((value, i) => {
    if (isFloat(dtype)) writeWord(bytes, i, dtype, floatWord(value, dtype, path));
    else writeWord(bytes, i, dtype, integer(value, dtype, path));
  });
  return { dtype, shape, bytes };
}

const SPECIAL: Record<string, number> = { NaN: NaN, Infinity: Infinity, "-Infinity": -Infinity };

/** @throws InputFileError also for a number that the type, or JavaScript, rounds to infinity */
function floatWord(value: unknown, dtype: DType, path: string): bigint {
  const found = typeof value === "string" ? SPECIAL[value] : value;
  if (typeof found === "number") {
    const word = numberWord(found, dtype);
    if (typeof value === "string" || Number.isNaN(found) || Number.isFinite(wordNumber(word, dtype))) return word;
    const what = Number.isFinite(found) ? String(found) : "a number";
    throw new InputFileError(
      path,
      `holds ${what} beyond the range of ${dtypeName(dtype)}: write "Infinity" for infinity`,
    );
  }
  throw new InputFileError(path, `holds ${JSON.stringify(value)}, expected a number, "NaN", "Infinity" or "-Infinity"`);
}

function integer(value: unknown, dtype: DType, path: string): bigint {
  const bits = dtypeBytes(dtype) * 8;
  const text = typeof value === "boolean" ? String(Number(value)) : String(value);
  if (
    /^-?\d+$/.test(text) &&
    (typeof value === "string" || typeof value === "boolean" || Number.isSafeInteger(value))
  ) {
    const word = BigInt(text);
    const max = dtype === DType.bool ? 1n : isSigned(dtype) ? 1n << BigInt(bits - 1) : 1n << BigInt(bits);
    const fits =
      dtype === DType.bool ? word === 0n || word === 1n : word < max && word >= (isSigned(dtype) ? -max : 0n);
    if (fits) return word;
  }
  throw new InputFileError(path, `holds ${JSON.stringify(value)}, which is no ${dtypeName(dtype)}`);
}
