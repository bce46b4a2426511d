import { DType, isInteger, type DType as DTypeCode } from "../../numerics/dtype.ts";
import { narrowLayout, narrowRange, narrowTypeOf, type NarrowType } from "../../numerics/narrow.ts";
import { elementCount } from "../../model/onnx/model.ts";
import { elementTypeName } from "../../model/onnx/narrow.ts";
import { Reduce } from "../../program/types.ts";
import type { Expr, Expressions } from "../expressions/expression.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";
import { identityOrder, type LazyTensor } from "../expressions/tensor.ts";
import { greatestWord, minWord } from "../../numerics/numbers.ts";
import { asBytes, narrowCode, widened, type Rounding } from "./narrow.ts";
import { dropAxes, reduceAxes } from "./reduction.ts";
import { broadcast } from "../lowering/broadcast.ts";

const QUANTISED: readonly DTypeCode[] = [DType.uint8, DType.int8, DType.uint16, DType.int16];

/** Refuses a type that has no quantisation. */
export function quantisedType(context: NodeContext, dtype: number, what: string): DTypeCode {
  const known = QUANTISED.find((type) => type === dtype);
  return known ?? context.refuse(what, `is element type ${dtype}, expected int8, uint8, int16 or uint16`);
}

/** `saturate(roundHalfEven(ratio) + zero)`; NaN gives the zero point. `zero` is of the result's type. */
export function toQuantised(
  e: Expressions,
  ratio: Expr,
  zero: Expr,
  [min, greatest]: readonly [bigint, bigint] = [minWord(zero.dtype), greatestWord(zero.dtype)],
): Expr {
  const int32 = (value: bigint): Expr => e.constant(DType.int32, value);
  // Beyond any 16-bit result with any zero point, and far inside int32.
  const near = e.clamp(e.round(ratio), e.float(-(2 ** 18)), e.float(2 ** 18));
  const sum = e.add(e.cast(near, DType.int32), e.cast(zero, DType.int32));
  const saturated = e.clamp(sum, int32(min), int32(greatest));
  return e.cast(saturated, zero.dtype);
}

/** Data and its parameters (scale, zero point) in shapes that broadcast, and the way back to the data's shape. */
type Aligned = { data: LazyTensor; parameter: (tensor: LazyTensor) => LazyTensor; shape: readonly number[] };

/** Per tensor, per axis, or in blocks along an axis. */
function alignParameters(context: NodeContext, data: LazyTensor, scale: LazyTensor): Aligned {
  const { builder } = context;
  const { shape } = data;
  const rank = shape.length;
  const given = context.int("axis", 1);
  const block = context.int("block_size", 0);
  if (elementCount(scale.shape) === 1 && block === 0)
    return { data, shape, parameter: (tensor) => builder.reshape(tensor, []) };
  const axis = context.axis(given, rank);
  if (block === 0) {
    if (scale.shape.length !== 1 || scale.shape[0] !== shape[axis])
      return context.fail(`a scale of shape [${scale.shape.join()}] for axis ${axis} of [${shape.join()}]`);
    const column = [elementCount(scale.shape), ...shape.slice(axis + 1).map(() => 1)];
    return { data, shape, parameter: (tensor) => builder.reshape(tensor, column) };
  }
  const blocks = scale.shape[axis] ?? 0;
  const fits = scale.shape.length === rank && shape.every((dim, d) => d === axis || dim === scale.shape[d]);
  if (!fits || blocks !== Math.ceil(shape[axis]! / block))
    return context.fail(`a scale of shape [${scale.shape.join()}] for blocks of ${block} of [${shape.join()}]`);
  if (blocks * block !== shape[axis]) return context.refuse("block_size", "does not divide the axis");
  const cut = (size: number): number[] => [...shape.slice(0, axis), blocks, size, ...shape.slice(axis + 1)];
  return {
    data: builder.reshape(data, cut(block)),
    shape,
    parameter: (tensor) => builder.reshape(tensor, cut(1)),
  };
}

/** Returns the zero point in the given type, 0 if none is given. */
function zeroPoint(context: NodeContext, aligned: Aligned, dtype: DTypeCode, narrow?: NarrowType): LazyTensor {
  const zero = context.optional(2);
  if (zero === undefined) return context.scalar(dtype, 0n);
  if (zero.dtype !== dtype || zero.narrow !== narrow)
    return context.fail(`a zero point of type ${elementTypeName(zero)}`);
  if (elementCount(zero.shape) !== elementCount(context.input(1).shape))
    return context.fail(`a zero point of shape [${zero.shape.join()}] for another scale`);
  return aligned.parameter(asBytes(zero));
}

/** `saturate(roundHalfEven(RN(x / scale)) + zero)`, the zero point uint8 0 by default. */
export const quantizeLinear: Lower = (context) => {
  const e = context.expressions;
  const scale = context.floatInput(1);
  const rounding = { saturate: context.int("saturate", 1) !== 0, mode: "nearest" };
  const precision = context.int("precision", 0);
  if (precision !== 0 && precision !== DType.float32) context.refuse("precision", "is not float32");
  const narrow = context.optional(2)?.narrow ?? narrowTypeOf(context.int("output_dtype", 0));
  if (narrow !== undefined) return [quantisedNarrow(context, scale, narrow, rounding)];
  const zeroType = context.optional(2)?.dtype;
  const wanted = context.int("output_dtype", 0) || (zeroType ?? DType.uint8);
  const dtype = quantisedType(context, wanted, zeroType === undefined ? "output_dtype" : "input 2");
  const aligned = alignParameters(context, context.input(0), scale);
  const inputs = [aligned.data, aligned.parameter(scale), zeroPoint(context, aligned, dtype)];
  const build = (x: Expr, s: Expr, z: Expr): Expr => toQuantised(e, e.div(e.cast(x, DType.float32), s), z);
  return [context.builder.reshape(broadcast(context, inputs, build, true), aligned.shape)];
};

/** The same to a narrow type. Of a float: the ratio, and the zero point added, in it. */
function quantisedNarrow(context: NodeContext, scale: LazyTensor, type: NarrowType, rounding: Rounding): LazyTensor {
  const { builder, expressions: e } = context;
  const { storage, float } = narrowLayout(type);
  const aligned = alignParameters(context, context.input(0), scale);
  const given = context.optional(2);
  if (given !== undefined && given.narrow !== type) return context.fail(`a zero point that is not of ${type}`);
  const ratio = (x: Expr, s: Expr): Expr => e.div(e.cast(x, DType.float32), e.cast(s, DType.float32));
  const range = narrowRange(type).map(BigInt) as [bigint, bigint];
  let quantised: LazyTensor;
  if (float === undefined) {
    const zero = given === undefined ? context.scalar(storage, 0n) : aligned.parameter(asBytes(given));
    const build = (x: Expr, s: Expr, z: Expr): Expr => toQuantised(e, ratio(x, s), z, range);
    quantised = broadcast(context, [aligned.data, aligned.parameter(scale), zero], build, true);
  } else {
    const parameters = [aligned.parameter(scale)];
    // A zero point known to equal 0 adds nothing.
    const isZero = given === undefined || builder.words(given)?.every((word) => word === 0n) === true;
    if (!isZero) parameters.push(aligned.parameter(widened(context, given)));
    const build = (x: Expr, s: Expr, z?: Expr): Expr =>
      narrowCode(e, z === undefined ? ratio(x, s) : e.add(ratio(x, s), z), type, rounding);
    quantised = broadcast(context, [aligned.data, ...parameters], build, true);
  }
  return { ...builder.reshape(quantised, aligned.shape), narrow: type };
}

/** `RN(RN(q - zero) * scale)`, the difference exact in int32. */
export const dequantizeLinear: Lower = (context) => {
  const e = context.expressions;
  const scale = context.floatInput(1);
  const { narrow } = context.input(0);
  if (narrow !== undefined && narrowLayout(narrow).float !== undefined) return [dequantisedFloat(context, scale)];
  const x = asBytes(context.input(0));
  if (x.dtype !== DType.int32) quantisedType(context, x.dtype, "input 0");
  const output = context.int("output_dtype", 0);
  if (output !== 0 && output !== DType.float32) context.refuse("output_dtype", "is not float32");
  const aligned = alignParameters(context, x, scale);
  const hasZero = context.optional(2) !== undefined;
  if (isQuantised(x)) context.builder.keepPacked(x);
  const inputs = [aligned.data, aligned.parameter(scale), zeroPoint(context, aligned, x.dtype, narrow)];
  const build = (q: Expr, s: Expr, z: Expr): Expr => {
    const wide = e.cast(q, DType.int32);
    const difference = hasZero ? e.sub(wide, e.cast(z, DType.int32)) : wide;
    return e.mul(e.cast(difference, DType.float32), s);
  };
  return [context.builder.reshape(broadcast(context, inputs, build, true), aligned.shape)];
};

/** The same of narrow floats: RN(RN(q - zero) * scale) in float32. */
function dequantisedFloat(context: NodeContext, scale: LazyTensor): LazyTensor {
  const { builder, expressions: e } = context;
  const output = context.int("output_dtype", 0);
  if (output !== 0 && output !== DType.float32) context.refuse("output_dtype", "is not float32");
  const aligned = alignParameters(context, widened(context, context.input(0)), scale);
  const zero = context.optional(2);
  if (zero !== undefined && zero.narrow !== context.input(0).narrow) context.fail("a zero point of another type");
  const isZero = zero === undefined || builder.words(zero)?.every((word) => word === 0n) === true;
  const parameters = [aligned.parameter(scale), ...(isZero ? [] : [aligned.parameter(widened(context, zero))])];
  const build = (q: Expr, s: Expr, z?: Expr): Expr => e.mul(z === undefined ? q : e.sub(q, z), s);
  return builder.reshape(broadcast(context, [aligned.data, ...parameters], build, true), aligned.shape);
}

/**
 * Returns the minimum or maximum of all elements and 0. The reduction goes dimension by dimension: no step reads more
 * than one dimension.
 */
function extreme(context: NodeContext, x: LazyTensor, reduce: Reduce): LazyTensor {
  const { builder, expressions: e } = context;
  let result = x;
  for (const dim of identityOrder(x.shape.length).toReversed())
    if (x.shape[dim]! > 1) result = reduceAxes(builder, result, [dim], reduce);
  const scalar = dropAxes(builder, result, identityOrder(x.shape.length));
  const bound = reduce === Reduce.max ? e.max : e.min;
  const bounded = broadcast(context, [scalar], (v) => bound(v, e.float(0)));
  builder.realise(bounded);
  return bounded;
}

/**
 * DynamicQuantizeLinear to uint8: low <= 0 <= high the extremes; scale = RN(RN(high - low) / 255), 1 if they are equal;
 * zero = saturate(roundHalfEven(RN(0 - RN(low / scale)))).
 */
export const dynamicQuantizeLinear: Lower = (context) => dynamicallyQuantised(context, context.floatInput());

/** A tensor quantised to uint8 by its own extremes, the scale, and the zero point. */
export function dynamicallyQuantised(context: NodeContext, x: LazyTensor): [LazyTensor, LazyTensor, LazyTensor] {
  const { builder, expressions: e } = context;
  builder.plain(x);
  const [low, high] = [extreme(context, x, Reduce.min), extreme(context, x, Reduce.max)];
  const scale = broadcast(context, [low, high], (a, b) => {
    const ratio = e.div(e.sub(b, a), e.float(255));
    return e.select(e.eq(a, b), e.float(1), ratio);
  });
  builder.realise(scale);
  const none = e.constant(DType.uint8, 0n);
  const zero = broadcast(context, [low, scale], (a, s) => toQuantised(e, e.sub(e.float(0), e.div(a, s)), none));
  builder.realise(zero);
  const build = (v: Expr, s: Expr, z: Expr): Expr => toQuantised(e, e.div(v, s), z);
  return [broadcast(context, [x, scale, zero], build, true), scale, zero];
}

/** Whether a tensor holds integers of at most 16 bits. */
export const isQuantised = (tensor: LazyTensor): boolean => isInteger(tensor.dtype) && QUANTISED.includes(tensor.dtype);
