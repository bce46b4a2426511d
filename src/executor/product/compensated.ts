const U = 2 ** -53;

/**
 * How far the exact sum may be from the kernels' `compensatedDot`: u |sum| + (K u)^2 S, for fewer than 2^26 terms
 * (derived in src/numerics/kernels/compensated.ts). The factors 4 and 2 leave room for rounding value +- error.
 * @param magnitude At least S, the sum of the magnitudes of the products.
 */
export function compensatedError(sum: number, terms: number, magnitude: number): number {
  if (terms >= 2 ** 26) return NaN;
  return 4 * U * Math.abs(sum) + 2 * (terms * U) ** 2 * magnitude;
}
