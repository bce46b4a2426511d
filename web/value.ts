import { DType, dtypeBytes, isFloat, type DType as DTypeCode, type Word } from "../src/numerics/dtype.ts";
import { wordNumber } from "../src/numerics/numbers.ts";

/** An element as people read it: a float as the shortest decimal that reads back as the same, others as they are. */
export function valueText(word: Word, dtype: DTypeCode): string {
  if (!isFloat(dtype)) return dtype === DType.bool ? String(word !== 0n) : word.toString();
  const value = wordNumber(word, dtype);
  if (dtype === DType.float64 || !Number.isFinite(value)) return String(value);
  if (dtype === DType.float32) return shortest(value, Math.fround);
  // Neighbours of 16-bit floats lie further apart than 5 digits tell.
  return String(Number(value.toPrecision(5)));
}

/** An element as a number, as near as there is one. */
export const numberOf = (word: Word, dtype: DTypeCode): number =>
  isFloat(dtype) ? wordNumber(word, dtype) : Number(word);

function shortest(value: number, rounded: (value: number) => number): string {
  for (let digits = 1; digits < 9; digits++) {
    const text = value.toPrecision(digits);
    if (rounded(Number(text)) === value) return String(Number(text));
  }
  return String(Number(value.toPrecision(9)));
}

/** The bits of an element, in bytes from the highest. */
export const bitsText = (word: Word, dtype: DTypeCode): string =>
  BigInt.asUintN(8 * dtypeBytes(dtype), word)
    .toString(2)
    .padStart(8 * dtypeBytes(dtype), "0");
