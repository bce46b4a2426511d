import type { Prng } from "../../../src/base/prng.ts";

/** A first layer's weights for dense sums: for each sum, a weight per input element. */
export type FirstLayer = { weights: Float32Array; sums: number };

/**
 * Returns an input addition that vanishes in the first layer's sums: huge elements cancel up to their rounding. The
 * elements other than 0 number one more than the sums.
 * @param layer A layer with more elements than sums.
 * @param magnitude The largest element.
 */
export function cancelling({ weights, sums }: FirstLayer, magnitude: number, prng: Prng): Float64Array {
  const elements = weights.length / sums;
  const places = new Set<number>();
  while (places.size <= sums) places.add(prng.below(elements));
  const chosen = [...places];
  const rows = Array.from({ length: sums }, (_, sum) =>
    Float64Array.from(chosen, (place, i) => (i < sums ? 1 : -1) * weights[sum * elements + place]!),
  );
  // The first elements are solved for, to cancel the last element, 1.
  const solved = [...solution(rows), 1];
  const largest = Math.max(...solved.map(Math.abs));
  const result = new Float64Array(elements);
  chosen.forEach((place, i) => (result[place] = Math.fround((solved[i]! / largest) * magnitude)));
  return result;
}

/** Solves linear equations by elimination. @param rows Coefficients, then the right side; changed. */
function solution(rows: Float64Array[]): number[] {
  const count = rows.length;
  for (let k = 0; k < count; k++) {
    let pivot = k;
    for (let r = k; r < count; r++) if (Math.abs(rows[r]![k]!) > Math.abs(rows[pivot]![k]!)) pivot = r;
    [rows[k], rows[pivot]] = [rows[pivot]!, rows[k]!];
    const own = rows[k]!;
    for (let r = 0; r < count; r++) {
      if (r === k) continue;
      const row = rows[r]!;
      const factor = row[k]! / own[k]!;
      for (let c = k; c <= count; c++) row[c] = row[c]! - factor * own[c]!;
    }
  }
  return rows.map((row, k) => row[count]! / row[k]!);
}
