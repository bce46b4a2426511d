import type { MatrixShape } from "../engine/matMulEngine.ts";

const MAX_BYTE = 255;

/**
 * Returns the zero point that turns all integers into bytes: their values lie in 0 to 255 after adding it.
 * @returns undefined if no zero point does.
 */
export function byteZero(values: Int32Array): number | undefined {
  let low = 0;
  let high = 0;
  for (let k = 0; k < values.length; k++) {
    const value = values[k]!;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return high - low > MAX_BYTE ? undefined : -low;
}

/**
 * A matrix product, modulo 2^32, of integers minus their zero points.
 * @param left `[rows, inner]`
 * @param right `[inner, columns]`
 * @param out `[rows, columns]`
 */
export function wideProduct(
  left: Int32Array | Uint8Array,
  right: Uint8Array | Int8Array,
  zeros: { left: number; right: number },
  out: Int32Array,
  { rows, columns, inner }: MatrixShape,
): void {
  out.fill(0);
  for (let row = 0; row < rows; row++) {
    for (let k = 0; k < inner; k++) {
      const factor = left[row * inner + k]! - zeros.left;
      for (let column = 0; column < columns; column++) {
        const index = row * columns + column;
        out[index] = (out[index]! + Math.imul(factor, right[k * columns + column]! - zeros.right)) | 0;
      }
    }
  }
}
