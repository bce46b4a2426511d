/**
 * A dot product of float32 values, held as float64, in about twice float64's precision: products are exact, and what each addition loses is summed up beside
 * it (Ogita, Rump and Oishi, "Accurate sum and dot product", 2005, Sum2 over exact terms).
 */
export function compensatedDot(
  a: Float64Array,
  aStart: number,
  b: Float64Array,
  bStart: number,
  terms: number,
): number {
  let sum = 0;
  let lost = 0;
  for (let k = 0; k < terms; k++) {
    const product = a[aStart + k]! * b[bStart + k]!;
    const next = sum + product;
    const part = next - sum;
    lost += sum - (next - part) + (product - part);
    sum = next;
  }
  return sum + lost;
}

const U = 2 ** -53;

/**
 * How far the exact sum may be from `compensatedDot`'s: u |sum| + (K u)^2 S, for fewer than 2^26 terms. The factors 4 and 2 leave
 * room for the ends value +- error being rounded.
 * @param magnitude At least S, the sum of the magnitudes of the products.
 */
export function compensatedError(sum: number, terms: number, magnitude: number): number {
  if (terms >= 2 ** 26) return NaN;
  return 4 * U * Math.abs(sum) + 2 * (terms * U) ** 2 * magnitude;
}
