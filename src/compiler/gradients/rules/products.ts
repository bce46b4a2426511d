import { elementCount } from "../../../model/onnx/model.ts";
import type { Backward, Rule } from "../backward.ts";

const swapLast = (b: Backward, x: string, rank: number): string => {
  const perm = Array.from({ length: rank }, (_, d) => d);
  [perm[rank - 2], perm[rank - 1]] = [rank - 1, rank - 2];
  return b.transpose(x, perm);
};

/** dA = dY * B^T and dB = A^T * dY, summed over what was broadcast. A vector is a row or a column. */
export const matMul: Rule = (b) => {
  const [left, right] = [b.shape(0), b.shape(1)];
  const a = left.length === 1 ? [1, ...left] : left;
  const c = right.length === 1 ? [...right, 1] : right;
  const [rows, inner, columns] = [a.at(-2)!, a.at(-1)!, c.at(-1)!];
  const batchOf = (shape: readonly number[]): readonly number[] => shape.slice(0, -2);
  const batch = batchOf(a).length >= batchOf(c).length ? [...batchOf(a)] : [...batchOf(c)];
  const other = batchOf(a).length >= batchOf(c).length ? batchOf(c) : batchOf(a);
  other.forEach((dim, d) => {
    const at = batch.length - other.length + d;
    batch[at] = Math.max(batch[at]!, dim);
  });
  const out = [...batch, rows, columns];
  const dy = b.reshape(b.dy, b.outputShape, out);
  const [x, w] = [b.reshape(b.x(0), left, a), b.reshape(b.x(1), right, c)];
  const toLeft = (): string => b.toInput(0, b.op("MatMul", dy, swapLast(b, w, c.length)), [...batch, rows, inner]);
  const toRight = (): string => {
    if (c.length === 2 && batch.length > 0) {
      // One product sums over the batch too.
      const length = elementCount(batch) * rows;
      const all = b.transpose(b.reshape(x, a, [length, inner]), [1, 0]);
      return b.reshape(b.op("MatMul", all, b.reshape(dy, out, [length, columns])), [inner, columns], right);
    }
    const product = b.op("MatMul", swapLast(b, x, a.length), dy);
    const shape = [...batch, inner, columns];
    return right.length === 1 ? b.reshape(product, shape, [...batch, inner]) : b.toInput(1, product, shape);
  };
  return [b.if(0, toLeft), b.if(1, toRight)];
};

export const gemm: Rule = (b) => {
  const [a, w] = [b.x(0), b.x(1)];
  const alpha = { alpha: { float: b.attributes.float("alpha", 1) } };
  const [transA, transB] = [b.attributes.int("transA", 0) ? 1 : 0, b.attributes.int("transB", 0) ? 1 : 0];
  const product = (x: string, y: string, left: number, right: number): string =>
    b.opWith("Gemm", { ...alpha, transA: left, transB: right }, x, y);
  return [
    b.if(0, () => (transA ? product(w, b.dy, transB, 1) : product(b.dy, w, 0, 1 - transB))),
    b.if(1, () => (transB ? product(b.dy, a, 1, transA) : product(a, b.dy, 1 - transA, 0))),
    b.if(2, () => {
      const beta = b.attributes.float("beta", 1);
      return b.toInput(2, beta === 1 ? b.dy : b.mul(b.dy, b.f(beta)));
    }),
  ];
};
