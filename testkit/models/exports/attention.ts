import { DType } from "../../../src/numerics/dtype.ts";
import { floatTensor } from "../../../src/model/onnx/tensorData.ts";
import type { Exporter } from "./exporter.ts";

/** The lowest finite float32. PyTorch adds the number to scores that do not count. */
export const LOWEST_FLOAT32 = -3.4028234663852886e38;

/** [batch, length, width] to [batch, heads, length, width / heads], sizes from Shape. */
export function splitHeads(g: Exporter, x: string, heads: number, size: number): string {
  return g.node("Transpose", [g.reshape(x, g.size(x, 0), g.size(x, 1), heads, size)], { perm: [0, 2, 1, 3] });
}

/** Back to [batch, length, width]. */
export function joinHeads(g: Exporter, x: string, width: number): string {
  const turned = g.node("Transpose", [x], { perm: [0, 2, 1, 3] });
  return g.reshape(turned, g.size(turned, 0), g.size(turned, 1), width);
}

/**
 * PyTorch's scaled_dot_product_attention. The graph computes the scale from the queries' size, and applies the scale's
 * root on each side.
 */
export function sdpa(g: Exporter, q: string, k: string, v: string, mask: string | undefined): string {
  const last = g.node("Slice", [g.node("Shape", [q]), g.ints(-1), g.ints(2 ** 53)]);
  const scale = g.node("Div", [
    g.constant(floatTensor([1])),
    g.node("Sqrt", [g.node("Cast", [last], { to: DType.float32 })]),
  ]);
  const root = g.node("Sqrt", [scale]);
  const turned = g.node("Transpose", [k], { perm: [0, 1, 3, 2] });
  const scores = g.node("MatMul", [g.node("Mul", [q, root]), g.node("Mul", [turned, root])]);
  const masked = mask === undefined ? scores : g.node("Add", [scores, mask]);
  return g.node("MatMul", [g.node("Softmax", [masked], { axis: -1 }), v]);
}
