import { DType } from "../../numerics/dtype.ts";
import { elementCount } from "../../model/onnx/model.ts";
import { int64Tensor } from "../../model/onnx/tensorData.ts";
import { Reduce } from "../../program/types.ts";
import { constantAffine, digitAffine, type Affine } from "../expressions/affine.ts";
import { broadcast, combine } from "../lowering/broadcast.ts";
import { REDUCTION_DIGIT, type Expr } from "../expressions/expression.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";
import { dimensionIndices, identityOrder, plainDigits, radixOf, type LazyTensor } from "../expressions/tensor.ts";
import { readAt, rowMajorStrides } from "../steps/views.ts";
import { greatestWord, minWord } from "../../numerics/numbers.ts";
import { readIndirect } from "../lowering/readIndirect.ts";
import { countedFromEnd } from "../lowering/indices.ts";

/** For each output element a list of updates that may go to the element, in update order. */
type Writes = {
  data: LazyTensor;
  /** Sizes of the reduction over the updates. */
  radices: readonly number[];
  /** Whether the update of the reduction's digits goes to the element (bool), and its value. */
  match: Expr;
  update: Expr;
};

const reductionOf = (context: NodeContext): string => {
  const reduction = context.opset >= 16 ? context.string("reduction", "none") : "none";
  const known = [
    "none",
    ...(context.opset >= 16 ? ["add", "mul"] : []),
    ...(context.opset >= 18 ? ["max", "min"] : []),
  ];
  if (!known.includes(reduction)) context.refuse("reduction", `is ${reduction}`);
  return reduction;
};

/** The maximum number of factors of one element: they are multiplied one after the other, each in a step. */
const MAX_FACTORS = 64;

/** The written tensor: the last update wins, or the data and the exact sum (maximum, minimum) of the updates. */
function written(context: NodeContext, { data, radices, match, update }: Writes, reduction: string): LazyTensor {
  const { expressions: e } = context;
  const { dtype, shape } = data;
  const digits = plainDigits(shape);
  const order = identityOrder(shape.length);
  if (reduction === "none") {
    const last = e.accumulator(Reduce.last, dtype, dtype, radices, match, update);
    const old = readAt(e, context.builder.plain(data), dimensionIndices(digits), radixOf(digits));
    return { dtype, shape, digits, order, expr: e.select(e.found(last), last, old) };
  }
  if (dtype === DType.bool) return context.refuse("reduction", `is ${reduction} of bool`);
  const [reduce, join, neutral] =
    reduction === "add"
      ? [Reduce.sum, e.add, 0n]
      : reduction === "max"
        ? [Reduce.max, e.max, minWord(dtype)]
        : [Reduce.min, e.min, greatestWord(dtype)];
  if (neutral >= 1n << 63n) return context.refuse("reduction", "is min of uint64");
  const term = e.select(match, update, e.constant(dtype, neutral));
  const sum: LazyTensor = { dtype, shape, digits, order, expr: e.accumulator(reduce, dtype, dtype, radices, term) };
  return broadcast(context, [data, sum], join);
}

/** ScatterElements, and Scatter before opset 11. */
export const scatterElements: Lower = (context) => {
  const { builder, expressions: e } = context;
  const [data, indices, updates] = [0, 1, 2].map((k) => context.input(k)) as [LazyTensor, LazyTensor, LazyTensor];
  const rank = data.shape.length;
  const axis = context.axis(context.int("axis", 0), rank);
  const { shape } = indices;
  if (shape.length !== rank || shape.join() !== updates.shape.join() || updates.dtype !== data.dtype)
    return context.fail(`indices [${shape.join()}], updates [${updates.shape.join()}]`);
  if (shape.some((dim, d) => d !== axis && dim > data.shape[d]!))
    return context.fail(`indices [${shape.join()}] for [${data.shape.join()}]`);
  const reduction = reductionOf(context);
  const size = data.shape[axis]!;
  if (reduction === "mul") {
    if (data.dtype === DType.bool) return context.refuse("reduction", "is mul of bool");
    const words = context.constantWords(indices, "indices");
    const steps = rowMajorStrides(shape);
    const tuples = words.flatMap((word, i) =>
      shape.map((dim, d) => (d === axis ? word : BigInt(Math.floor(i / steps[d]!) % dim))),
    );
    const flat = builder.reshape(updates, [words.length]);
    return [scatterConstant(context, data, tuples, rank, flat, true)];
  }
  const digits = plainDigits(data.shape);
  const length = shape[axis]!;
  const radix = radixOf(digits, [length]);
  const all = dimensionIndices(digits);
  const at = all.map((index, d) => (d === axis ? digitAffine(REDUCTION_DIGIT) : index));
  // Without updates, the index has a value outside all elements.
  const index = readAt(e, builder.plain(indices), at, radix, BigInt(size));
  const match = e.eq(countedFromEnd(e, index, size), e.affine(all[axis]!));
  const update = readAt(e, builder.plain(updates), at, radix);
  return [written(context, { data, radices: [length], match, update }, reduction)];
};

/**
 * For each element, a flag for a written update, and the update's number. Several updates to one element are in
 * successive rounds.
 */
type Round = { found: boolean[]; writer: number[] };

/**
 * Returns the updates that constant indices write to each element: the last update, or with `all` every update, one per
 * round.
 */
function writersOf(
  context: NodeContext,
  words: readonly bigint[],
  dims: readonly number[],
  count: number,
  all: boolean,
): Round[] {
  const depth = dims.length;
  const total = elementCount(dims);
  const rounds: Round[] = [];
  const { budget } = context.builder;
  budget.computeElements(total);
  const next = new Array<number>(total).fill(0);
  for (let n = 0; n < count; n++) {
    let position = 0;
    for (let k = 0; k < depth; k++) {
      const raw = Number(words[n * depth + k]!);
      const own = raw < 0 ? raw + dims[k]! : raw;
      position = own < 0 || own >= dims[k]! ? NaN : position * dims[k]! + own;
    }
    if (Number.isNaN(position)) continue;
    const k = all ? next[position]!++ : 0;
    if (rounds[k] === undefined) budget.computeElements(2 * total);
    rounds[k] ??= { found: new Array<boolean>(total).fill(false), writer: new Array<number>(total).fill(0) };
    [rounds[k].writer[position], rounds[k].found[position]] = [n, true];
  }
  return rounds;
}

/**
 * ScatterND with indices known at compile time: each element comes from the data or from one update, or equals the
 * product of the data and the element's updates, in order.
 */
function scatterConstant(
  context: NodeContext,
  data: LazyTensor,
  words: readonly bigint[],
  depth: number,
  updates: LazyTensor,
  multiply: boolean,
): LazyTensor {
  const rounds = writersOf(context, words, data.shape.slice(0, depth), words.length / depth, multiply);
  if (rounds.length > MAX_FACTORS)
    return context.refuse("reduction", `multiplies ${rounds.length} updates in one element, at most ${MAX_FACTORS}`);
  return rounds.reduce((before, round) => {
    const after = scatterRound(context, before, round, depth, updates, multiply);
    if (multiply) context.builder.realise(after);
    return after;
  }, data);
}

function scatterRound(
  context: NodeContext,
  data: LazyTensor,
  { found, writer }: Round,
  depth: number,
  updates: LazyTensor,
  multiply: boolean,
): LazyTensor {
  const { builder, expressions: e } = context;
  const dims = data.shape.slice(0, depth);
  const count = elementCount(updates.shape) / elementCount(data.shape.slice(depth));
  const ones = data.shape.slice(depth).map(() => 1);
  const rest = data.shape.slice(depth);
  const flat = builder.reshape(updates, [count, ...rest]);
  const at = builder.constant(int64Tensor(writer, [...dims]));
  const mask = builder.constant({
    dtype: DType.bool,
    shape: [...dims, ...ones],
    bytes: Uint8Array.from(found, Number),
  });
  const digits = plainDigits(data.shape);
  const all = dimensionIndices(digits);
  const radix = radixOf(digits);
  const indirect = readAt(e, builder.plain(at), all.slice(0, depth), radix);
  const expr = readIndirect(builder, flat, [{ indirect }, ...all.slice(depth)], radix);
  const moved = { dtype: data.dtype, shape: data.shape, digits, expr, order: identityOrder(data.shape.length) };
  return combine(builder, [mask, moved, data], data.shape, (c, a, b) => e.select(c, multiply ? e.mul(b, a) : a, b));
}

/** ScatterND: each tuple of indices names an element, or a block of elements, to write. */
export const scatterNd: Lower = (context) => {
  const { builder, expressions: e } = context;
  const [data, indices, updates] = [0, 1, 2].map((k) => context.input(k)) as [LazyTensor, LazyTensor, LazyTensor];
  const depth = indices.shape.at(-1) ?? 0;
  const outer = indices.shape.slice(0, -1);
  const expected = [...outer, ...data.shape.slice(depth)];
  if (depth < 1 || depth > data.shape.length || updates.shape.join() !== expected.join())
    return context.fail(`indices [${indices.shape.join()}], updates [${updates.shape.join()}]`);
  if (updates.dtype !== data.dtype) return context.fail("data and updates differ in type");
  const reduction = reductionOf(context);
  const multiply = reduction === "mul";
  if (multiply && data.dtype === DType.bool) return context.refuse("reduction", "is mul of bool");
  const known = multiply
    ? context.constantWords(indices, "indices")
    : reduction === "none"
      ? builder.words(indices)
      : undefined;
  if (known !== undefined) return [scatterConstant(context, data, known, depth, updates, multiply)];

  const count = elementCount(outer);
  const tuples = builder.plain(builder.reshape(indices, [count, depth]));
  const values = builder.plain(builder.reshape(updates, [count, ...data.shape.slice(depth)]));
  const digits = plainDigits(data.shape);
  const radix = radixOf(digits, [count]);
  const all = dimensionIndices(digits);
  const term: Affine = digitAffine(REDUCTION_DIGIT);
  const matches = Array.from({ length: depth }, (_, k) => {
    const index = readAt(e, tuples, [term, constantAffine(k)], radix);
    return e.eq(countedFromEnd(e, index, data.shape[k]!), e.affine(all[k]!));
  });
  const match = matches.reduce(e.and);
  const update = readAt(e, values, [term, ...all.slice(depth)], radix);
  return [written(context, { data, radices: [count], match, update }, reduction)];
};

/** MaxUnpool: each value goes to its index in the flattened output; the rest is 0. */
export const maxUnpool: Lower = (context) => {
  const { builder, expressions: e } = context;
  const [x, indices] = [context.input(0), context.input(1)];
  const kernel = context.ints("kernel_shape") ?? context.fail("kernel_shape is missing");
  const rank = kernel.length;
  const strides = context.ints("strides") ?? kernel.map(() => 1);
  const pads = context.ints("pads") ?? [...kernel, ...kernel].map(() => 0);
  if (x.shape.length !== rank + 2 || x.shape.join() !== indices.shape.join())
    return context.fail(`data [${x.shape.join()}], indices [${indices.shape.join()}]`);
  const natural = kernel.map((k, d) => (x.shape[d + 2]! - 1) * strides[d]! + k - pads[d]! - pads[d + rank]!);
  const shape = context.constantInts(2, "output_shape") ?? [x.shape[0]!, x.shape[1]!, ...natural];
  // Engines read indices in this shape, ONNX's tests in the natural shape.
  if (shape.join() !== [x.shape[0]!, x.shape[1]!, ...natural].join())
    return context.refuse("output_shape", `is [${shape.join()}], only that of the pooling is executed`);
  const size = elementCount(shape);
  const count = elementCount(x.shape);
  const digits = plainDigits([size]);
  const radix = radixOf(digits, [count]);
  const term = [digitAffine(REDUCTION_DIGIT)];
  const index = e.cast(readAt(e, builder.plain(builder.reshape(indices, [count])), term, radix), DType.int64);
  const value = readAt(e, builder.plain(builder.reshape(x, [count])), term, radix);
  const match = e.eq(index, e.affine(dimensionIndices(digits)[0]!));
  const expr = e.accumulator(Reduce.last, x.dtype, x.dtype, [count], match, value);
  return [builder.reshape({ dtype: x.dtype, shape: [size], digits, expr, order: [0] }, shape)];
};
