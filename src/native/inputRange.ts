import { readableArray } from "../executor/arrays.ts";
import { DType, dtypeBytes, dtypeName, isFloat, isHalf, isSigned } from "../numerics/dtype.ts";
import type { TensorInfo } from "../program/compiled.ts";
import { areCanonicalBetween } from "./withinRange.ts";
import { canonical } from "./canonical.ts";
import { numbersOf } from "./elements.ts";

/** The allowed values of a program input, from the minimum to the maximum; both are numbers of the input's type. */
export type InputRange = { name: string; dtype: DType; low: number; high: number };

/** The inputs that a calibration holds for, in the program's order. */
export type Box = readonly InputRange[];

/** Where nothing else is said, integers of more than 8 bits are indices or tokens: small ones select something. */
const SMALL = 15;

/**
 * Returns the range for an input without further knowledge: floats in -1 .. 1, 8-bit integers with all values, others 0
 * .. 15.
 */
export function usualRange({ name, dtype }: Pick<TensorInfo, "name" | "dtype">): InputRange {
  if (isFloat(dtype)) return { name, dtype, low: -1, high: 1 };
  if (dtype === DType.bool) return { name, dtype, low: 0, high: 1 };
  if (dtypeBytes(dtype) > 1) return { name, dtype, low: 0, high: SMALL };
  return isSigned(dtype) ? { name, dtype, low: -128, high: 127 } : { name, dtype, low: 0, high: 255 };
}

/** The least and the largest of an input's values; NaN if one is NaN. */
export function extremes(bytes: Uint8Array, dtype: DType): { low: number; high: number } {
  const array = isHalf(dtype) ? numbersOf(bytes, dtype) : readableArray(bytes, dtype);
  let [low, high] = [Infinity, -Infinity];
  for (let i = 0; i < array.length; i++) {
    const value = Number(array[i]!);
    if (value < low) low = value;
    if (value > high) high = value;
    if (Number.isNaN(value)) return { low: NaN, high: NaN };
  }
  return { low, high };
}

/** Whether all of an input's values are in a range. NaN is in none. */
function isInside(bytes: Uint8Array, { dtype, low, high }: InputRange): boolean {
  // One-byte types with all values allowed need no check.
  const usual = usualRange({ name: "", dtype });
  if (dtypeBytes(dtype) === 1 && low <= usual.low && high >= usual.high) return true;
  const found = extremes(bytes, dtype);
  return found.low >= low && found.high <= high;
}

/**
 * Inputs as exact execution sees them, canonical, if all their values are inside a box.
 * @param inputs In the program's order.
 * @returns why they are outside, if they are
 */
export function insideOf(box: Box, inputs: readonly Uint8Array[]): readonly Uint8Array[] | string {
  const taken: Uint8Array[] = [];
  for (const [i, range] of box.entries()) {
    const { name, dtype, low, high } = range;
    const given = inputs[i]!;
    const isChecked = dtype === DType.float32 && areCanonicalBetween(given, low, high);
    const bytes = isChecked ? given : canonical(given, dtype);
    if (!isChecked && !isInside(bytes, range)) {
      const found = extremes(bytes, dtype);
      return `${name} (${dtypeName(dtype)}) goes from ${found.low} to ${found.high}, calibrated from ${low} to ${high}`;
    }
    taken.push(bytes);
  }
  return taken;
}
