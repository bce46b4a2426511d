import type { NodeContext } from "../lowering/nodeContext.ts";
import type { LazyTensor } from "../expressions/tensor.ts";

/**
 * Returns the shape under which `own` meets a tensor with `rank` dimensions, if `own`'s first dimension is the tensor's
 * `axis`.
 */
const alignedAt = (own: readonly number[], rank: number, axis: number): number[] => [
  ...own,
  ...new Array<number>(Math.max(0, rank - axis - own.length)).fill(1),
];

/**
 * Returns the two operands of a binary operator. Before opset 7 both shapes must be equal unless `broadcast` is 1; then
 * the second operand is broadcast to the first, from `axis` on or as a suffix.
 */
export function binaryOperands(context: NodeContext): LazyTensor[] {
  const [a, b] = [context.input(0), context.input(1)];
  if (context.opset >= 7) return [a, b];
  const axis = context.has("axis") ? context.axis(context.int("axis", 0), a.shape.length) : undefined;
  if (context.int("broadcast", 0) === 0) {
    if (a.shape.join() !== b.shape.join())
      context.fail(`shapes [${a.shape.join()}] and [${b.shape.join()}] differ and broadcast is 0`);
    return [a, b];
  }
  const scalar = b.shape.every((dim) => dim === 1);
  if (axis === undefined || scalar) return [a, scalar ? context.builder.reshape(b, []) : b];
  return [a, context.builder.reshape(b, alignedAt(b.shape, a.shape.length, axis))];
}

/** The slope of PRelu: before opset 7 one for each channel, else whatever broadcasts to the data. */
export function slopeOperand(context: NodeContext): LazyTensor {
  const [x, slope] = [context.input(0), context.input(1)];
  if (context.opset >= 7 || slope.shape.length !== 1 || slope.shape[0] === 1) return slope;
  return context.builder.reshape(slope, alignedAt(slope.shape, x.shape.length, 1));
}
