import { elementCount } from "../../model/onnx/model.ts";
import { Reduce } from "../../program/types.ts";
import { addAffine, constantAffine, digitAffine } from "../expressions/affine.ts";
import { REDUCTION_DIGIT, type Expr } from "../expressions/expression.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";
import { dimensionIndices, identityOrder, plainDigits, radixOf, type LazyTensor } from "../expressions/tensor.ts";
import { readAt } from "../steps/views.ts";
import { normalise } from "./normalisation.ts";
import { reduceAxes } from "./reduction.ts";
import { broadcast } from "../lowering/broadcast.ts";

/** Returns a vector with `size` elements along dimension 1 of a tensor with the given rank. */
function column(context: NodeContext, index: number, size: number, rank: number): LazyTensor {
  const vector = context.floatInput(index);
  if (vector.shape.length !== 1 || vector.shape[0] !== size) context.fail(`input ${index} is not a vector of ${size}`);
  return context.builder.reshape(vector, [size, ...new Array<number>(rank - 2).fill(1)]);
}

/**
 * GroupNormalization: `(d / r) * g + b` over groups of channels. g and b are given for each group before opset 21, for
 * each channel from then on.
 */
export const groupNormalization: Lower = (context) => {
  const { builder, expressions: e } = context;
  const x = context.floatInput();
  context.requireInt("stash_type", 1);
  const groups = context.int("num_groups", 0);
  const [n = 0, channels = 0, ...spatial] = x.shape;
  if (x.shape.length < 3 || groups < 1 || channels % groups !== 0)
    return context.fail(`${groups} groups of [${x.shape.join()}]`);
  const perGroup = builder.reshape(x, [n, groups, (channels / groups) * elementCount(spatial)]);
  const { normal } = normalise(context, perGroup, [2], context.float("epsilon", 1e-5));
  const affine = (v: Expr, g: Expr, b: Expr): Expr => e.add(e.mul(v, g), b);
  const [of, size] = context.opset < 21 ? [normal, groups] : [builder.reshape(normal, x.shape), channels];
  const rank = of.shape.length;
  const scaled = broadcast(context, [of, column(context, 1, size, rank), column(context, 2, size, rank)], affine);
  return [builder.reshape(scaled, x.shape)];
};

/** RMSNormalization: r = sqrt(dot(x, x) / n + eps); (x / r) * g over the dimensions from `axis` on. */
export const rmsNormalization: Lower = (context) => {
  const { builder, expressions: e } = context;
  const x = context.floatInput();
  context.requireInt("stash_type", 1);
  const axes = identityOrder(x.shape.length).slice(context.axis(context.int("axis", -1), x.shape.length));
  const n = e.float(elementCount(axes.map((axis) => x.shape[axis]!)));
  const epsilon = e.float(context.float("epsilon", 1e-5));
  builder.plain(x);
  const root = broadcast(context, [reduceAxes(builder, x, axes, Reduce.dot)], (s) =>
    e.sqrt(e.add(e.div(s, n), epsilon)),
  );
  builder.realise(root);
  const build = (v: Expr, r: Expr, g: Expr): Expr => e.mul(e.div(v, r), g);
  const result = broadcast(context, [x, root, context.floatInput(1)], build);
  if (result.shape.join() !== x.shape.join()) return context.fail("its scale does not broadcast to the data");
  return [result];
};

/** MeanVarianceNormalization: d / (sqrt(dot(d, d) / n) + 1e-9), d = x - sum / n. */
export const meanVarianceNormalization: Lower = (context) => {
  const { builder, expressions: e } = context;
  const x = context.floatInput();
  const rank = x.shape.length;
  const axes = [...new Set((context.ints("axes") ?? [0, 2, 3]).map((axis) => context.axis(axis, rank)))];
  const n = e.float(elementCount(axes.map((axis) => x.shape[axis]!)));
  builder.plain(x);
  const mean = broadcast(context, [reduceAxes(builder, x, axes, Reduce.sum)], (s) => e.div(s, n));
  builder.realise(mean);
  const d = broadcast(context, [x, mean], e.sub);
  builder.realise(d);
  const deviation = broadcast(context, [reduceAxes(builder, d, axes, Reduce.dot)], (s) =>
    e.add(e.sqrt(e.div(s, n)), e.float(1e-9)),
  );
  builder.realise(deviation);
  return [broadcast(context, [d, deviation], e.div)];
};

/** LpNormalization: x / norm along an axis, norm = sum of abs or sqrt(dot(x, x)); 0 where the norm is 0. */
export const lpNormalization: Lower = (context) => {
  const { builder, expressions: e } = context;
  const x = context.floatInput();
  const axis = context.axis(context.int("axis", -1), x.shape.length);
  const p = context.int("p", 2);
  if (p !== 1 && p !== 2) return context.refuse("p", `is ${p}, expected 1 or 2`);
  builder.plain(x);
  const magnitude = p === 1 ? broadcast(context, [x], e.abs) : x;
  const sum = reduceAxes(builder, magnitude, [axis], p === 1 ? Reduce.sum : Reduce.dot);
  const norm = p === 1 ? sum : broadcast(context, [sum], e.sqrt);
  builder.realise(norm);
  const zero = e.float(0);
  return [broadcast(context, [x, norm], (v, r) => e.select(e.eq(r, zero), zero, e.div(v, r)))];
};

/** LRN: x / pow(bias + RN(alpha / size) * s, beta), s the exact dot(x, x) over the neighbouring channels. */
export const lrn: Lower = (context) => {
  const { builder, expressions: e } = context;
  const x = context.floatInput();
  const size = context.int("size", 0);
  if (x.shape.length < 2 || size < 1) return context.fail(`${size} neighbours in [${x.shape.join()}]`);
  const [alpha, beta] = [context.float("alpha", 1e-4), context.float("beta", 0.75)].map(Math.fround);
  const bias = e.float(context.float("bias", 1));
  const digits = plainDigits(x.shape);
  const radix = radixOf(digits, [size]);
  const before = constantAffine(-Math.floor((size - 1) / 2));
  const indices = dimensionIndices(digits).map((index, d) =>
    d === 1 ? addAffine(addAffine(index, digitAffine(REDUCTION_DIGIT)), before) : index,
  );
  const term = readAt(e, builder.plain(x), indices, radix);
  const expr = e.accumulator(Reduce.dot, x.dtype, x.dtype, [size], term, term);
  const squares: LazyTensor = { dtype: x.dtype, shape: x.shape, digits, expr, order: x.order };
  const build = (v: Expr, s: Expr): Expr => {
    const base = e.add(bias, e.mul(e.float(alpha! / size), s));
    return e.div(v, e.pow(base, e.float(beta!)));
  };
  return [broadcast(context, [x, squares], build)];
};
