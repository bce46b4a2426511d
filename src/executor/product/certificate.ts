import { exactDotFloat32 } from "../../numerics/exactSum.ts";
import { float32Bits } from "../arrays.ts";
import { compensatedDot, compensatedError } from "./compensated.ts";
import type { Operand } from "./operand.ts";

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

export type ProductShape = { groups: number; rows: number; columns: number; inner: number };

/**
 * Products of two float32 are exact in float64, and whatever order they are added in, the sum of K is off by at most (K - 1) u S, with
 * u = 2^-53 and S the sum of their magnitudes. Three more u S cover the rounding of the ends value +- error, and 1 + 2^-20
 * covers S (or the norms that bound it by Cauchy-Schwarz) being computed in float64 itself. Numbers between two ends
 * that round to the same float32 round to it as well. NaN and Infinity make the ends unequal: the element is flagged.
 */
const SLACK = 1 + 2 ** -20;
const errorFactor = (terms: number): number => (terms + 2) * 2 ** -53 * SLACK;

/** Settles one element after the other; `out` receives canonical float32 bits. */
export class Certifier {
  readonly #left: Operand;
  readonly #right: Operand;
  readonly #stats: CertificateStats;
  readonly #out: Uint32Array;
  readonly #factor: number;
  readonly #scratch = new Float32Array(1);
  readonly #scratchBits = float32Bits(this.#scratch);

  constructor(left: Operand, right: Operand, out: Uint32Array, stats: CertificateStats) {
    this.#left = left;
    this.#right = right;
    this.#out = out;
    this.#stats = stats;
    this.#factor = errorFactor(left.inner);
  }

  /**
   * Stores element `index`, the dot product of vector `row` of the left and `column` of the right operand.
   * @param value The sum as float64 arithmetic gave it, in any order.
   * @param magnitude At least (but for float64 rounding) the sum of the magnitudes of the products.
   */
  settle(index: number, row: number, column: number, value: number, magnitude: number): void {
    const error = this.#factor * magnitude;
    const low = Math.fround(value - error);
    if (low === Math.fround(value + error)) this.#store(index, low);
    else this.#settleFlagged(index, row, column, value, magnitude);
  }

  /** One zero: `+ 0` makes -0 +0. */
  #store(index: number, value: number): void {
    this.#scratch[0] = value + 0;
    this.#out[index] = this.#scratchBits[0]!;
  }

  #settleFlagged(index: number, row: number, column: number, value: number, magnitude: number): void {
    const { bits: left, inner } = this.#left;
    const { bits: right } = this.#right;
    this.#stats.flagged++;
    // All partial sums are multiples of the product of units, and below 2^53 of them: exact, in any order.
    if (magnitude * SLACK < 2 ** 53 * (this.#left.unit(row) * this.#right.unit(column))) {
      this.#stats.ties++;
      this.#store(index, Math.fround(value));
      return;
    }
    this.#store(index, Math.fround(value));
    const speculated = this.#out[index];
    const sum = compensatedDot(this.#left.values, row * inner, this.#right.values, column * inner, inner);
    const error = compensatedError(sum, inner, magnitude * SLACK);
    const low = Math.fround(sum - error);
    if (low === Math.fround(sum + error)) {
      this.#stats.compensated++;
      this.#store(index, low);
    } else {
      this.#stats.exact++;
      this.#out[index] = exactDotFloat32(left, row * inner, right, column * inner, inner);
    }
    if (this.#out[index] !== speculated) this.#stats.patched++;
  }
}
