import { digitAffine, type Affine } from "../expressions/affine.ts";
import { broadcastShapes, combine } from "../lowering/broadcast.ts";
import type { Lower } from "../lowering/nodeContext.ts";
import { identityOrder } from "../expressions/tensor.ts";
import { transposed } from "../steps/views.ts";
import { concatenate } from "../lowering/concatenate.ts";
import { sliced, partsAlong, wholeRange } from "../lowering/slices.ts";

/** Transpose; without perm, all dimensions in reverse. */
export const transpose: Lower = (context) => {
  const x = context.input(0);
  const rank = x.shape.length;
  const perm = context.ints("perm") ?? identityOrder(rank).reverse();
  if (perm.toSorted((a, b) => a - b).join() !== identityOrder(rank).join())
    return context.fail(`perm [${perm.join()}] of rank ${rank}`);
  return [transposed(context.expressions, x, perm)];
};

/** Slice: attributes before opset 10, then inputs that must be known. */
export const slice: Lower = (context) => {
  const x = context.input(0);
  const attributes = context.opset < 10;
  const list = (index: number, name: string): number[] | undefined =>
    attributes ? context.bounds(name) : context.constantBounds(index, name);
  const starts = list(1, "starts") ?? context.fail("starts is missing");
  const ends = list(2, "ends") ?? context.fail("ends is missing");
  const axes = list(3, "axes") ?? identityOrder(starts.length);
  const steps = (attributes ? undefined : context.constantBounds(4, "steps")) ?? starts.map(() => 1);
  const ranges = x.shape.map(wholeRange);
  axes.forEach((given, k) => {
    const axis = context.axis(given, x.shape.length);
    const dim = x.shape[axis]!;
    const step = steps[k]!;
    if (step === 0) context.fail("a step of 0");
    const clampTo = (value: number, low: number, high: number): number =>
      Math.min(high, Math.max(low, value < 0 ? value + dim : value));
    const start = step > 0 ? clampTo(starts[k]!, 0, dim) : clampTo(starts[k]!, 0, dim - 1);
    const end = step > 0 ? clampTo(ends[k]!, 0, dim) : clampTo(ends[k]!, -1, dim - 1);
    ranges[axis] = { start, step, count: Math.max(0, Math.ceil((end - start) / step)) };
  });
  const shape = ranges.map((range) => range.count);
  if (shape.includes(0) && context.builder.isConstant(x)) return [context.builder.filled(x.dtype, shape, 0n)];
  return [sliced(context, x, ranges)];
};

/** Split into parts of given or equal sizes; each is a view. */
export const split: Lower = (context) => {
  const x = context.input(0);
  const axis = context.axis(context.int("axis", 0), x.shape.length);
  const dim = x.shape[axis]!;
  const parts = context.int("num_outputs", context.node.outputs.length);
  const given = context.opset < 13 ? context.ints("split") : context.constantInts(1, "split");
  const size = Math.ceil(dim / parts);
  const sizes = given ?? context.tabulate(parts, (k) => Math.min(size, dim - k * size));
  if (sizes.reduce((a, b) => a + b, 0) !== dim) return context.fail(`parts [${sizes.join()}] of ${dim}`);
  if (context.node.outputs.filter((name) => name !== "").length > 1) context.builder.realise(x);
  return partsAlong(context, x, axis, sizes);
};

/** Concat: each output element reads the only input with the element. */
export const concat: Lower = (context) => {
  const inputs = context.inputs.map((_, k) => context.input(k)).filter((input) => !input.shape.includes(0));
  const first = inputs[0] ?? context.fail("it has no input");
  const axis = context.axis(context.int("axis", 1), first.shape.length);
  for (const input of inputs) {
    const fits =
      input.shape.length === first.shape.length && input.shape.every((dim, d) => d === axis || dim === first.shape[d]);
    if (!fits || input.dtype !== first.dtype) return context.fail("the inputs differ outside the axis");
  }
  return [concatenate(context, inputs, axis)];
};

/** Expand (and Tile below) repeat elements: views. */
export const expand: Lower = (context) => {
  const x = context.input(0);
  const wanted = context.constantInts(1, "shape") ?? context.fail("shape is missing");
  const shape = broadcastShapes([x.shape, wanted]);
  if (shape === undefined || shape.includes(0))
    return context.fail(`[${x.shape.join()}] does not expand to [${wanted.join()}]`);
  return [combine(context.builder, [x], shape, (value) => value)];
};

/** Tile: the index wraps around, one digit for the repeat and one for the position. */
export const tile: Lower = (context) => {
  const { builder, expressions: e } = context;
  const repeats = context.constantInts(1, "repeats") ?? context.fail("repeats is missing");
  const input = context.input(0);
  if (repeats.length !== input.shape.length || repeats.some((r) => r < 1))
    return context.fail(`repeats [${repeats.join()}]`);
  builder.realise(input);
  const x = builder.singleDigits(input);
  const shape = x.shape.map((dim, d) => dim * repeats[d]!);
  const digits = x.shape.map((dim, d) => [repeats[d]!, dim].filter((radix) => radix > 1));
  const target: Affine[] = [];
  let next = 0;
  x.digits.forEach((own, d) => {
    if (repeats[d]! > 1) next++;
    if (own.length === 1) target.push(digitAffine(next++));
  });
  return [{ dtype: x.dtype, shape, digits, expr: e.remap(x.expr, (digit) => target[digit]), order: x.order }];
};
