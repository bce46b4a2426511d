import type { View } from "./types.ts";

/** Splits a flat index by mixed radices, the last digit fastest. */
export function splitDigits(index: number, radices: readonly number[]): number[] {
  const digits = new Array<number>(radices.length);
  for (let k = radices.length - 1; k >= 0; k--) {
    digits[k] = index % radices[k]!;
    index = Math.floor(index / radices[k]!);
  }
  return digits;
}

/**
 * Returns the element that a view reads, or undefined for its fill value.
 * @param reads The words of the earlier reads in the same list, for indirect axes.
 */
export function viewOffset(view: View, digits: readonly number[], reads: readonly bigint[]): number | undefined {
  let offset = 0;
  for (const { extent, stride, base, div, indirect, coeffs } of view.axes) {
    let c = BigInt(base);
    for (const { digit, coeff } of coeffs) c += BigInt(coeff) * BigInt(digits[digit]!);
    if (indirect !== undefined) {
      const index = reads[indirect]!;
      c += index < 0n ? index + BigInt(extent) : index;
    }
    if (c % BigInt(div) !== 0n) return undefined;
    c /= BigInt(div);
    if (c < 0n || c >= BigInt(extent)) return undefined;
    offset += Number(c) * stride;
  }
  return offset;
}
