import type { Views } from "../memory/views.ts";
import type { Machine } from "../plan/plan.ts";
import { errorFactor, normsOf, Settler, type Vectors } from "./certificate.ts";
import type { MatrixShape } from "./matMulEngine.ts";

/** Addresses of the float64 operands `[rows, inner]` and `[columns, inner]` and of the float32 result `[rows, columns]`. */
export type ProductAddresses = { left: number; right: number; out: number };

/** A prepared product: `run` computes and certifies it. */
export type Product = () => void | Promise<void>;

const vectors = (views: Views, address: number, count: number, inner: number): Vectors => ({
  values: views.float64(address, count * inner),
  inner,
});

/**
 * A matrix product by the engine, rounded and certified.
 * @param scratch Addresses for the float64 result, and for the norms of rows; `columnNorms` are known already.
 */
export function engineProduct(
  machine: Machine,
  shape: MatrixShape,
  { left, right, out }: ProductAddresses,
  scratch: { values: number; rowNorms: number; columnNorms: number },
): Product {
  const { views, engine, stats, clock } = machine;
  const { rows, columns, inner } = shape;
  const a = vectors(views, left, rows, inner);
  const b = vectors(views, right, columns, inner);
  const values = views.float64(scratch.values, rows * columns);
  const rowNorms = views.float64(scratch.rowNorms, rows);
  const columnNorms = views.float64(scratch.columnNorms, columns);
  const bits = views.uint32(out, rows * columns);
  const results = views.float32(out, rows * columns);
  const multiply = engine.product(a.values, b.values, values, shape);
  const settler = new Settler(stats);
  const factor = errorFactor(inner);

  const certify = (): void => {
    clock.enter("certify");
    normsOf(a, rowNorms);
    for (let row = 0, index = 0; row < rows; row++) {
      const rowFactor = factor * rowNorms[row]!;
      for (let column = 0; column < columns; column++, index++) {
        const value = values[index]!;
        const error = rowFactor * columnNorms[column]!;
        const low = Math.fround(value - error);
        if (low === Math.fround(value + error)) results[index] = low + 0;
        else bits[index] = settler.settle(a, row, b, column, value, rowNorms[row]! * columnNorms[column]!);
      }
    }
    stats.elements += rows * columns;
  };
  return () => {
    clock.enter("products");
    const pending = multiply();
    return pending === undefined ? certify() : pending.then(certify);
  };
}

/** Few terms, or vectors: plain loops, which know the sum of magnitudes as well. Without `right`, the sums of the rows. */
export function directProduct(
  { views, stats, clock }: Machine,
  { rows, columns, inner }: MatrixShape,
  { left, right, out }: Omit<ProductAddresses, "right"> & { right?: number | undefined },
): Product {
  const a = vectors(views, left, rows, inner);
  const b =
    right === undefined ? { values: new Float64Array(inner).fill(1), inner } : vectors(views, right, columns, inner);
  const bits = views.uint32(out, rows * columns);
  const results = views.float32(out, rows * columns);
  const settler = new Settler(stats);
  const factor = errorFactor(inner);
  return () => {
    clock.enter("products");
    for (let row = 0, index = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++, index++) {
        let sum = 0;
        let magnitude = 0;
        for (let k = 0, i = row * inner, j = column * inner; k < inner; k++, i++, j++) {
          const product = a.values[i]! * b.values[j]!;
          sum += product;
          magnitude += Math.abs(product);
        }
        const error = factor * magnitude;
        const low = Math.fround(sum - error);
        if (low === Math.fround(sum + error)) results[index] = low + 0;
        else bits[index] = settler.settle(a, row, b, column, sum, magnitude);
      }
    }
    stats.elements += rows * columns;
  };
}
