import { DType, type DType as DTypeCode } from "../../numerics/dtype.ts";
import { allocate, type TensorArray } from "../arrays.ts";
/** A batch of matrix products `[groups, rows, inner] x [groups, columns, inner]`. */
export type ProductShape = { groups: number; rows: number; columns: number; inner: number };

/**
 * Dot products modulo 2^n of rows of `left` with columns of `right`, each vector contiguous; storing wraps.
 * @param out `[groups, rows, columns]`.
 */
export function integerProduct(
  left: TensorArray,
  right: TensorArray,
  shape: ProductShape,
  dtype: DTypeCode,
  out: TensorArray,
): void {
  const { groups, rows, columns, inner } = shape;
  const wide = dtype === DType.int64 || dtype === DType.uint64;
  let index = 0;
  for (let row = 0; row < groups * rows; row++) {
    const firstColumn = Math.floor(row / rows) * columns;
    for (let n = 0; n < columns; n++, index++) {
      const bStart = (firstColumn + n) * inner;
      out[index] = wide
        ? wideDot(left as BigInt64Array, row * inner, right as BigInt64Array, bStart, inner)
        : narrowDot(left as Int32Array, row * inner, right as Int32Array, bStart, inner);
    }
  }
}

/** Modulo 2^32, of which the narrower types keep the lower bits. */
function narrowDot(a: Int32Array, aStart: number, b: Int32Array, bStart: number, inner: number): number {
  let sum = 0;
  for (let k = 0; k < inner; k++) sum = (sum + Math.imul(a[aStart + k]!, b[bStart + k]!)) | 0;
  return sum;
}

function wideDot(a: BigInt64Array, aStart: number, b: BigInt64Array, bStart: number, inner: number): bigint {
  let sum = 0n;
  for (let k = 0; k < inner; k++) sum = BigInt.asIntN(64, sum + a[aStart + k]! * b[bStart + k]!);
  return sum;
}

/** Sums modulo 2^n of the vectors of `terms`. */
export function integerSum(terms: TensorArray, inner: number, dtype: DTypeCode, out: TensorArray): void {
  const ones = allocate(dtype, inner);
  const isWide = ones instanceof BigInt64Array || ones instanceof BigUint64Array;
  for (let k = 0; k < inner; k++) ones[k] = isWide ? 1n : 1;
  const rows = terms.length / inner;
  integerProduct(terms, ones, { groups: 1, rows, columns: 1, inner }, dtype, out);
}
