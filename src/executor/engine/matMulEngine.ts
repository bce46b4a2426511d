/**
 * The shape of a matrix product `[rows, inner] x [columns, inner]`. Each result equals the dot product of two vectors.
 */
export type MatrixShape = {
  rows: number;
  columns: number;
  inner: number;
  /** Whether the right factor lies term by term, `[inner, columns]`; by default column by column. */
  isByTerms?: boolean;
};

/** Multiplies float64 matrices, in any order of summation, without Strassen-like algorithms or reduced precision. */
export type MatMulEngine = {
  /**
   * Prepares one product. The returned function multiplies the arrays' contents at call time.
   * @param left `[rows, inner]`, row-major.
   * @param right `[columns, inner]`, row-major; `[inner, columns]` if the shape says so.
   * @param out Receives `[rows, columns]`.
   */
  product(left: Float64Array, right: Float64Array, out: Float64Array, shape: MatrixShape): () => void | Promise<void>;
  /** If undefined, loops compute integer products. */
  bytes?: ByteEngine;
  close(): Promise<void>;
};

/** Multiplies byte matrices after subtracting the operand's zero point from each byte; sums are modulo 2^32. */
export type ByteEngine = {
  /**
   * The minimum byte of a right operand: 0, or -128 if it is signed, in two's complement. Bytes of left operands are
   * unsigned.
   */
  minRight: 0 | -128;
  /**
   * Prepares one product. The returned function multiplies the arrays' contents at call time.
   * @param left `[rows, inner]`, row-major.
   * @param right `[inner, columns]`, row-major.
   * @param zeros One byte for each operand.
   * @param out Receives `[rows, columns]`.
   */
  product(
    left: Uint8Array,
    right: Uint8Array,
    zeros: { left: Uint8Array; right: Uint8Array },
    out: Int32Array,
    shape: MatrixShape,
  ): () => void | Promise<void>;
};
