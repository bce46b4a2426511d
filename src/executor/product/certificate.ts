import { compensatedDot, compensatedError } from "./compensated.ts";
import { exactDot, unitOf } from "./exactDot.ts";

/** What happened to the elements of float32 sums and dot products. */
export type CertificateStats = {
  /** Elements of such reductions. */
  elements: number;
  /** Not settled by the error bound. */
  flagged: number;
  /** Of the flagged ones, settled because no partial sum of theirs can have been rounded. */
  ties: number;
  /** Of the rest, settled by a compensated sum. */
  compensated: number;
  /** The remaining ones, recomputed in integers. */
  exact: number;
  /** Compensated and exact ones where the float64 result would have been wrong. */
  patched: number;
};

export const noStats = (): CertificateStats => ({
  elements: 0,
  flagged: 0,
  ties: 0,
  compensated: 0,
  exact: 0,
  patched: 0,
});

/** Vectors of float32 values held as float64, contiguous. */
export type Vectors = { values: Float64Array; inner: number };

/**
 * Products of two float32 are exact in float64, and whatever order they are added in, the sum of K is off by at most (K - 1) u S, with
 * u = 2^-53 and S the sum of their magnitudes. Three more u S cover the rounding of the ends value +- error, and 1 + 2^-20
 * covers S (or the norms that bound it by Cauchy-Schwarz) being computed in float64 itself. Numbers between two ends
 * that round to the same float32 round to it as well. NaN and Infinity make the ends unequal: the element is flagged.
 * (Jeannerod and Rump, "Improved error bounds for inner products in floating-point arithmetic", 2013.)
 */
const SLACK = 1 + 2 ** -20;
export const errorFactor = (terms: number): number => (terms + 2) * 2 ** -53 * SLACK;

/** Settles elements whose error bound leaves two float32 possible; `out` receives canonical float32. */
export class Settler {
  readonly #stats: CertificateStats;
  readonly #rounded = new Float32Array(1);
  readonly #bits = new Uint32Array(this.#rounded.buffer);

  constructor(stats: CertificateStats) {
    this.#stats = stats;
  }

  /**
   * The dot product of vector `row` of the left and `column` of the right operand, rounded once: as float32 bits.
   * @param value The sum as float64 arithmetic gave it, in any order.
   * @param magnitude At least (but for float64 rounding) the sum of the magnitudes of the products.
   */
  settle(left: Vectors, row: number, right: Vectors, column: number, value: number, magnitude: number): number {
    const { inner } = left;
    this.#stats.flagged++;
    const speculated = this.#round(value);
    // All partial sums are multiples of the product of units, and below 2^53 of them: exact, in any order.
    if (magnitude * SLACK < 2 ** 53 * (unitOf(left, row) * unitOf(right, column))) {
      this.#stats.ties++;
      return speculated;
    }
    const sum = compensatedDot(left.values, row * inner, right.values, column * inner, inner);
    const error = compensatedError(sum, inner, magnitude * SLACK);
    const low = Math.fround(sum - error);
    let settled: number;
    if (low === Math.fround(sum + error)) {
      this.#stats.compensated++;
      settled = this.#round(low);
    } else {
      this.#stats.exact++;
      settled = exactDot(left.values, row * inner, right.values, column * inner, inner);
    }
    if (settled !== speculated) this.#stats.patched++;
    return settled;
  }

  /** One zero: `+ 0` makes -0 +0. */
  #round(value: number): number {
    this.#rounded[0] = value + 0;
    return this.#bits[0]!;
  }
}

/** Euclidean norms of vectors in float64, low by at most (inner + 4) 2^-53 relative. NaN or Infinity where an element is. */
export function normsOf({ values, inner }: Vectors, norms: Float64Array): void {
  for (let row = 0; row < norms.length; row++) {
    let sum = 0;
    for (let k = row * inner; k < (row + 1) * inner; k++) sum += values[k]! * values[k]!;
    norms[row] = Math.sqrt(sum);
  }
}
