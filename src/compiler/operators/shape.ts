import { DType } from "../../numerics/dtype.ts";
import { elementCount } from "../../model/onnx/model.ts";
import { floatTensor, int64Tensor } from "../../model/onnx/tensorData.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";
import type { LazyTensor } from "../expressions/tensor.ts";
import { transposed } from "../steps/views.ts";
import { numberWord, wordNumber } from "../../numerics/numbers.ts";
import { dropoutInTraining } from "./random.ts";

/** The input itself. */
export const identity: Lower = (context) => [context.input(0)];

/**
 * Dropout in inference, or with ratio 0, is the identity with an all-true mask; in training, Dropout draws from the
 * seed.
 */
export const dropout: Lower = (context) => {
  context.ignore("ratio", "seed");
  if (context.opset < 7 && context.int("is_test", 0) === 0)
    return context.refuse("is_test", "is 0: training is not executed");
  const training = context.optional(2);
  if (training !== undefined && context.constantWords(training, "training_mode")[0] !== 0n) {
    const given = context.optional(1);
    const value = given === undefined ? 0.5 : wordNumber(context.constantWord(given, "ratio"), given.dtype);
    const word = numberWord(value, DType.float32);
    const ratio = context.expressions.constant(DType.float32, word);
    if (word !== 0n) return dropoutInTraining(context, context.floatInput(), ratio);
  }
  const x = context.input(0);
  // Before opset 10 the mask has the type of the data.
  return [x, context.builder.filled(context.opset < 10 ? x.dtype : DType.bool, x.shape, maskWord(context, x))];
};

const maskWord = (context: NodeContext, x: LazyTensor): bigint => (context.opset < 10 ? numberWord(1, x.dtype) : 1n);

/** Constant: reads the value from whichever attribute the node has. */
export const constant: Lower = (context) => {
  const value = context.tensor("value");
  if (value !== undefined) return [constantOf(context, value)];
  if (context.has("value_float")) return [context.builder.constant(floatTensor([context.float("value_float", 0)], []))];
  if (context.has("value_int")) return [context.builder.constant(int64Tensor([context.integer("value_int", 0n)], []))];
  const floats = context.floats("value_floats");
  if (floats !== undefined) return [constantOf(context, floatTensor(floats))];
  const ints = context.integers("value_ints");
  if (ints !== undefined) return [constantOf(context, int64Tensor(ints))];
  return context.refuse([...context.node.attributes.keys()][0], "is not a kind of constant that is executed");
};

function constantOf(
  context: NodeContext,
  data: { dtype: DType; shape: readonly number[]; bytes: Uint8Array },
): LazyTensor {
  return context.builder.constant(data);
}

/** ConstantOfShape: every element the same, float32 0 by default. */
export const constantOfShape: Lower = (context) => {
  const shape = context.constantInts(0, "shape") ?? context.fail("shape is missing");
  const value = context.tensor("value") ?? floatTensor([0]);
  const one = context.builder.constant({ ...value, shape: [] });
  if (one.expr.kind !== "constant") return context.refuse("value", "is above 2^63");
  const filled = context.builder.filled(value.dtype, shape, one.expr.value);
  return [{ ...filled, ...(value.narrow && { narrow: value.narrow }) }];
};

/** Shape, from `start` to `end` (opset 15). */
export const shape: Lower = (context) => {
  const dims = context.input(0).shape;
  const clampTo = (value: number): number =>
    Math.min(dims.length, Math.max(0, value < 0 ? value + dims.length : value));
  const part = dims.slice(clampTo(context.bound("start", 0)), clampTo(context.bound("end", dims.length)));
  return [context.builder.constant(int64Tensor(part))];
};

/** The number of elements. */
export const size: Lower = (context) => [
  context.builder.constant(int64Tensor([elementCount(context.input(0).shape)], [])),
];

/** Reshape: 0 copies a dimension (unless allowzero), -1 is what remains. */
export const reshape: Lower = (context) => {
  const x = context.input(0);
  const wanted = context.constantInts(1, "shape") ?? context.fail("shape is missing");
  const allowZero = context.int("allowzero", 0) !== 0;
  const dims = wanted.map((dim, d) => (dim === 0 && !allowZero ? (x.shape[d] ?? 0) : dim));
  const known = dims.reduce((product, dim) => (dim === -1 ? product : product * dim), 1);
  const result = dims.map((dim) => (dim === -1 ? elementCount(x.shape) / known : dim));
  if (elementCount(result) !== elementCount(x.shape) || result.some((dim) => !Number.isInteger(dim) || dim < 0))
    return context.fail(`[${x.shape.join()}] does not take the shape [${wanted.join()}]`);
  return [context.builder.reshape(x, result)];
};

/** Flatten to two dimensions before and from `axis`. */
export const flatten: Lower = (context) => {
  const x = context.input(0);
  const given = context.int("axis", 1);
  const axis = given < 0 ? given + x.shape.length : given;
  if (axis < 0 || axis > x.shape.length) return context.fail(`axis ${given} of a tensor of rank ${x.shape.length}`);
  return [context.builder.reshape(x, [elementCount(x.shape.slice(0, axis)), elementCount(x.shape.slice(axis))])];
};

const axesOf = (context: NodeContext): number[] | undefined =>
  context.opset < 13 ? context.ints("axes") : context.constantInts(1, "axes");

/** Squeeze the given dimensions of 1, or all. */
export const squeeze: Lower = (context) => {
  const x = context.input(0);
  const axes = axesOf(context)?.map((axis) => context.axis(axis, x.shape.length));
  const removed = axes ?? x.shape.flatMap((dim, d) => (dim === 1 ? [d] : []));
  if (removed.some((axis) => x.shape[axis] !== 1))
    return context.fail(`axes [${removed.join()}] of [${x.shape.join()}] are not all 1`);
  return [
    context.builder.reshape(
      x,
      x.shape.filter((_, d) => !removed.includes(d)),
    ),
  ];
};

/** Unsqueeze: adds dimensions of 1 at the given axes in the result. */
export const unsqueeze: Lower = (context) => {
  const x = context.input(0);
  const axes = axesOf(context) ?? context.fail("axes is missing");
  const rank = x.shape.length + axes.length;
  const added = new Set(axes.map((axis) => context.axis(axis, rank)));
  if (added.size !== axes.length) return context.fail(`axes [${axes.join()}] repeat`);
  const rest = [...x.shape];
  const result = Array.from({ length: rank }, (_, d) => (added.has(d) ? 1 : rest.shift()!));
  return [context.builder.reshape(x, result)];
};

/** DepthToSpace: blocks of channels become blocks of pixels. */
export const depthToSpace: Lower = (context) => {
  const x = context.input(0);
  const block = context.int("blocksize", 0);
  const [n = 0, c = 0, h = 0, w = 0] = x.shape;
  if (x.shape.length !== 4 || block < 1 || c % (block * block) !== 0)
    return context.fail(`blocks of ${block} in [${x.shape.join()}]`);
  const mode = context.string("mode", "DCR");
  if (mode !== "DCR" && mode !== "CRD") return context.refuse("mode", `is ${mode}`);
  const depth = c / (block * block);
  const columnFirst = mode === "CRD";
  const split = context.builder.reshape(
    x,
    columnFirst ? [n, depth, block, block, h, w] : [n, block, block, depth, h, w],
  );
  const perm = columnFirst ? [0, 1, 4, 2, 5, 3] : [0, 3, 4, 1, 5, 2];
  return [context.builder.reshape(transposed(context.expressions, split, perm), [n, depth, h * block, w * block])];
};

/** SpaceToDepth: the reverse of DepthToSpace in mode DCR. */
export const spaceToDepth: Lower = (context) => {
  const x = context.input(0);
  const block = context.int("blocksize", 0);
  const [n = 0, c = 0, h = 0, w = 0] = x.shape;
  if (x.shape.length !== 4 || block < 1 || h % block !== 0 || w % block !== 0)
    return context.fail(`blocks of ${block} in [${x.shape.join()}]`);
  const split = context.builder.reshape(x, [n, c, h / block, block, w / block, block]);
  const moved = transposed(context.expressions, split, [0, 3, 5, 1, 2, 4]);
  return [context.builder.reshape(moved, [n, c * block * block, h / block, w / block])];
};
