import { elementCount } from "../../model/onnx/model.ts";
import { int64Tensor } from "../../model/onnx/tensorData.ts";
import { addAffine, constantAffine } from "../expressions/affine.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";
import { dimensionIndices, identityOrder, plainDigits, radixOf, type LazyTensor } from "../expressions/tensor.ts";
import { readAt } from "../steps/views.ts";
import { numberWord } from "../../numerics/numbers.ts";
import { readIndirect } from "../lowering/readIndirect.ts";
import { sliced, wholeRange } from "../lowering/slices.ts";

/** Returns the input position for padded position `at` in a dimension, for the modes that repeat the input. */
function repeated(mode: string, at: number, dim: number): number {
  if (mode === "wrap") return ((at % dim) + dim) % dim;
  if (mode === "edge" || dim === 1) return Math.min(dim - 1, Math.max(0, at));
  const period = 2 * (dim - 1);
  const folded = ((at % period) + period) % period;
  return folded < dim ? folded : period - folded;
}

/** Pads by repeating the input: the positions are known, and each padded dimension reads through an index list. */
function padRepeated(
  context: NodeContext,
  x: LazyTensor,
  mode: string,
  begin: readonly number[],
  shape: readonly number[],
): LazyTensor {
  const { builder, expressions: e } = context;
  const digits = plainDigits(shape);
  const radix = radixOf(digits);
  const coordinates = dimensionIndices(digits).map((index, d) => {
    const dim = x.shape[d]!;
    if (begin[d] === 0 && shape[d] === dim) return index;
    const list = context.tabulate(shape[d]!, (o) => repeated(mode, o - begin[d]!, dim));
    return { indirect: readAt(e, builder.plain(builder.constant(int64Tensor(list))), [index], radix) };
  });
  const expr = readIndirect(builder, x, coordinates, radix);
  return { dtype: x.dtype, shape, digits, expr, order: identityOrder(shape.length) };
}

/** Pad with a constant, or by repeating what is left (reflect, edge, wrap): negative pads crop first. */
export const pad: Lower = (context) => {
  const { builder, expressions: e } = context;
  const whole = context.input(0);
  const rank = whole.shape.length;
  const mode = context.string("mode", "constant");
  if (!["constant", "reflect", "edge", "wrap"].includes(mode)) return context.refuse("mode", `is ${mode}`);
  const attributes = context.opset < 11;
  const given =
    (attributes ? context.ints("pads") : context.constantInts(1, "pads")) ?? context.fail("pads is missing");
  const axes = (context.opset >= 18 ? context.constantInts(3, "axes") : undefined) ?? identityOrder(rank);
  if (given.length !== 2 * axes.length) return context.fail(`${given.length} pads for ${axes.length} axes`);
  const begin = whole.shape.map(() => 0);
  const shape = [...whole.shape];
  const kept = whole.shape.map(wholeRange);
  axes.forEach((a, k) => {
    const axis = context.axis(a, rank);
    const [before, behind] = [given[k]!, given[k + axes.length]!];
    const size = shape[axis]! + before + behind;
    shape[axis] = size;
    begin[axis] = before;
    // A fill is the same, whether the rest is cut first or not.
    if (mode === "constant") return;
    begin[axis] = Math.max(before, 0);
    const count = whole.shape[axis]! + Math.min(before, 0) + Math.min(behind, 0);
    kept[axis] = { start: Math.max(-before, 0), step: 1, count };
    const isCut = before < 0 || behind < 0;
    const isTooFar = isCut && mode === "reflect" && count <= Math.max(before, behind);
    if (count < 0 || isTooFar || (count === 0 && size > 0))
      context.fail(
        `pads of ${before} and ${behind} leave ${count} of the ${whole.shape[axis]} elements of axis ${axis}`,
      );
  });
  const x = kept.every(({ count }, d) => count === whole.shape[d]) ? whole : sliced(context, whole, kept);
  if (elementCount(shape) === 0 || shape.some((dim) => dim < 0))
    return context.fail(`the result has the shape [${shape.join()}]`);
  const value = context.optional(2);
  if (mode !== "constant") return [padRepeated(context, x, mode, begin, shape)];
  const fill = attributes
    ? numberWord(context.float("value", 0), x.dtype)
    : ((value && context.constantWords(value, "constant_value")[0]) ?? 0n);
  const plain = builder.plain(x);
  const digits = plainDigits(shape);
  const indices = dimensionIndices(digits).map((index, d) => addAffine(index, constantAffine(-begin[d]!)));
  const expr = readAt(e, plain, indices, radixOf(digits), fill);
  return [{ dtype: x.dtype, shape, digits, expr, order: x.order }];
};
