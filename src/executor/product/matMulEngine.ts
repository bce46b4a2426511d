import type { ProductShape } from "./certificate.ts";

/** Multiplies batches of float64 matrices, in any order of summation, without Strassen-like algorithms or reduced precision. */
export type MatMulEngine = {
  /**
   * @param left `[groups, rows, inner]`, row-major.
   * @param right `[groups, inner, columns]`, row-major.
   * @returns `[groups, rows, columns]`.
   */
  multiply(left: Float64Array, right: Float64Array, shape: ProductShape): Promise<Float64Array>;
  close(): Promise<void>;
};
