/** A matrix product `[rows, inner] x [columns, inner]`: each result is the dot product of two vectors. */
export type MatrixShape = { rows: number; columns: number; inner: number };

/** Multiplies float64 matrices, in any order of summation, without Strassen-like algorithms or reduced precision. */
export type MatMulEngine = {
  /**
   * Prepares one product; the result multiplies what the arrays hold when it is called.
   * @param left `[rows, inner]`, row-major.
   * @param right `[columns, inner]`, row-major.
   * @param out Receives `[rows, columns]`.
   */
  product(left: Float64Array, right: Float64Array, out: Float64Array, shape: MatrixShape): () => void | Promise<void>;
  close(): Promise<void>;
};
