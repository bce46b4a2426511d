import { float32Bits } from "../arrays.ts";

/** One side of a batch of float32 matrix products: `rows` vectors of `inner` elements in each of `groups` groups, contiguous. */
export class Operand {
  readonly values: Float32Array;
  readonly bits: Uint32Array;
  readonly inner: number;
  #norms: Float64Array | undefined;
  readonly #units: Float64Array;
  #left: Float64Array | undefined;
  #right: Float64Array | undefined;

  constructor(values: Float32Array, inner: number) {
    this.values = values;
    this.bits = float32Bits(values);
    this.inner = inner;
    this.#units = new Float64Array(values.length / inner);
  }

  /** Euclidean norms of the vectors in float64, low by at most (inner + 4) 2^-53 relative. NaN or Infinity where an element is. */
  get norms(): Float64Array {
    if (this.#norms !== undefined) return this.#norms;
    const { values, inner } = this;
    const norms = new Float64Array(values.length / inner);
    for (let row = 0; row < norms.length; row++) {
      let sum = 0;
      for (let k = row * inner; k < (row + 1) * inner; k++) sum += values[k]! * values[k]!;
      norms[row] = Math.sqrt(sum);
    }
    return (this.#norms = norms);
  }

  /** The largest power of two that all elements of a vector are multiples of; Infinity for zeros alone, NaN if one is not finite. */
  unit(row: number): number {
    const known = this.#units[row]!;
    if (known !== 0) return known;
    let lowest = Infinity;
    for (let k = row * this.inner; k < (row + 1) * this.inner; k++) {
      const word = this.bits[k]! & 0x7fffffff;
      if (word === 0) continue;
      const field = word >>> 23;
      if (field === 0xff) return (this.#units[row] = NaN);
      const mantissa = field === 0 ? word : (word & 0x7fffff) | 0x800000;
      const zeros = 31 - Math.clz32(mantissa & -mantissa);
      lowest = Math.min(lowest, (field === 0 ? 1 : field) - 150 + zeros);
    }
    return (this.#units[row] = 2 ** lowest);
  }

  /** The elements in float64, in place: `[groups, rows, inner]`. */
  asLeft(): Float64Array {
    return (this.#left ??= Float64Array.from(this.values));
  }

  /** The elements in float64, transposed: `[groups, inner, rows]`. */
  asRight(groups: number): Float64Array {
    if (this.#right !== undefined) return this.#right;
    const { values, inner } = this;
    const rows = values.length / inner / groups;
    const right = new Float64Array(values.length);
    for (let g = 0; g < groups; g++) {
      const start = g * rows * inner;
      for (let row = 0; row < rows; row++) {
        for (let k = 0; k < inner; k++) right[start + k * rows + row] = values[start + row * inner + k]!;
      }
    }
    return (this.#right = right);
  }
}
