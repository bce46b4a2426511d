import type { View } from "../../program/types.ts";

/**
 * The offsets that a view reads while the digits of a step count up: `offset` is the first; `carry[d]` is added when
 * digit d counts up.
 */
export type LinearWalk = { offset: number; carry: readonly number[] };

/**
 * Returns the walk for a view never out of bounds that reads at offsets affine in the digits; undefined for any other
 * view.
 */
export function linearWalk({ axes }: View, radices: readonly number[]): LinearWalk | undefined {
  let offset = 0;
  const slopes = radices.map(() => 0);
  for (const { extent, stride, base, div, indirect, coeffs } of axes) {
    if (indirect !== undefined || div !== 1) return undefined;
    let [low, high] = [base, base];
    for (const { digit, coeff } of coeffs) {
      const span = coeff * (radices[digit]! - 1);
      if (span < 0) low += span;
      else high += span;
      slopes[digit]! += coeff * stride;
    }
    if (low < 0 || high >= extent) return undefined;
    offset += base * stride;
  }
  // When digit d counts up, all faster digits return to 0.
  let back = 0;
  const carry = slopes.map(() => 0);
  for (let d = radices.length - 1; d >= 0; d--) {
    carry[d] = slopes[d]! - back;
    back += slopes[d]! * (radices[d]! - 1);
  }
  return { offset, carry };
}

/**
 * Calls `visit` for each index below the product of the radices, with the digit that counted up to reach it (-1 for the
 * first).
 */
export function countUp(radices: readonly number[], visit: (index: number, counted: number) => void): void {
  const digits = radices.map(() => 0);
  const count = radices.reduce((product, radix) => product * radix, 1);
  visit(0, -1);
  for (let i = 1; i < count; i++) {
    let d = radices.length - 1;
    while (++digits[d]! === radices[d]) digits[d--] = 0;
    visit(i, d);
  }
}
