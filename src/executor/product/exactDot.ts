import { exactDotFloat32 } from "../../numerics/exactSum.ts";
import type { Vectors } from "./certificate.ts";

/** The bits of float32 values that are held as float64. */
export function float32BitsOf(values: Float64Array, start: number, count: number): Uint32Array {
  return new Uint32Array(Float32Array.from(values.subarray(start, start + count)).buffer);
}

/** An exact dot product of float32 values held as float64, rounded once: as float32 bits. */
export function exactDot(a: Float64Array, aStart: number, b: Float64Array, bStart: number, terms: number): number {
  return exactDotFloat32(float32BitsOf(a, aStart, terms), 0, float32BitsOf(b, bStart, terms), 0, terms);
}

/** The largest power of two that all elements of a vector are multiples of; Infinity for zeros alone, NaN if one is not finite. */
export function unitOf({ values, inner }: Vectors, row: number): number {
  let lowest = Infinity;
  for (const bits of float32BitsOf(values, row * inner, inner)) {
    const word = bits & 0x7fffffff;
    if (word === 0) continue;
    const field = word >>> 23;
    if (field === 0xff) return NaN;
    const mantissa = field === 0 ? word : (word & 0x7fffff) | 0x800000;
    const zeros = 31 - Math.clz32(mantissa & -mantissa);
    lowest = Math.min(lowest, (field === 0 ? 1 : field) - 150 + zeros);
  }
  return 2 ** lowest;
}
