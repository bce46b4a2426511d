import { SLACK } from "../../kernels/certify.ts";
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
