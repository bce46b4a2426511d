import { DType, isFloat, type DType as DTypeCode } from "../../numerics/dtype.ts";
import { narrowLayout, narrowNumber, type NarrowFloat, type NarrowType } from "../../numerics/narrow.ts";
import { floatTensor } from "../../model/onnx/tensorData.ts";
import type { Expr, Expressions } from "../expressions/expression.ts";
import type { LazyTensor } from "../expressions/tensor.ts";
import { broadcast, combine } from "../lowering/broadcast.ts";
import type { NodeContext } from "../lowering/nodeContext.ts";
import type { ProgramBuilder } from "../steps/builder.ts";
import { gatherAlong } from "./gather.ts";

/**
 * The conversion of a float to a narrow float: the result beyond the greatest number, and float8e8m0's rounding
 * direction.
 */
export type Rounding = { saturate: boolean; mode: string };

/** Returns the rounding requested by a node's attributes. */
export function narrowRounding(context: NodeContext): Rounding {
  const mode = context.string("round_mode", "up");
  if (!["up", "down", "nearest"].includes(mode)) context.refuse("round_mode", `is ${mode}`);
  return { saturate: context.int("saturate", 1) !== 0, mode };
}

/** Returns a tensor's bytes, without the narrow type. */
export function asBytes(tensor: LazyTensor): LazyTensor {
  const plain = { ...tensor };
  delete plain.narrow;
  return plain;
}

/** Returns a narrow tensor's numbers as a tensor for every operator: float32 for floats, int8 or uint8 for integers. */
export function widened(context: NodeContext, tensor: LazyTensor): LazyTensor {
  const { narrow } = tensor;
  const bytes = asBytes(tensor);
  if (narrow === undefined || narrowLayout(narrow).float === undefined) return bytes;
  const { builder, expressions: e } = context;
  if (bytes.expr.kind === "constant") {
    const value = narrowNumber(narrow, Number(bytes.expr.value));
    return { ...bytes, dtype: DType.float32, expr: e.float(value) };
  }
  const table = builder.constant(floatTensor(Array.from({ length: 256 }, (_, code) => narrowNumber(narrow, code))));
  return gatherAlong(context, table, bytes, 0);
}

/** The tensor rounded to a narrow type. */
export function narrowed(context: NodeContext, tensor: LazyTensor, type: NarrowType, rounding: Rounding): LazyTensor {
  const e = context.expressions;
  const result = broadcast(context, [tensor], (x) => narrowCode(e, x, type, rounding));
  return { ...result, narrow: type };
}

/**
 * Returns the bytes of an input in a narrow type with fewer than eight bits: bits above the type's bits are ignored.
 */
export function withinBits(builder: ProgramBuilder, tensor: LazyTensor, type: NarrowType): LazyTensor {
  const { expressions: e } = builder;
  if (narrowLayout(type).bits === 8) return { ...tensor, narrow: type };
  return { ...combine(builder, [tensor], tensor.shape, (x) => lowBits(e, x, type)), narrow: type };
}

/** The integer in the lowest bits of an integer. */
function lowBits(e: Expressions, x: Expr, type: NarrowType): Expr {
  const { bits, storage } = narrowLayout(type);
  const mask = e.and(e.cast(x, DType.uint8), e.constant(DType.uint8, BigInt(2 ** bits - 1)));
  if (storage === DType.uint8) return mask;
  const sign = e.constant(DType.uint8, BigInt(2 ** (bits - 1)));
  return e.cast(e.sub(e.xor(mask, sign), sign), DType.int8);
}

/** The code of a number in a narrow type. */
export function narrowCode(e: Expressions, x: Expr, type: NarrowType, rounding: Rounding): Expr {
  const { float, bits } = narrowLayout(type);
  if (float !== undefined) return floatCode(e, wideEnough(e, x), float, rounding);
  // Floats are cut off towards zero; of the integer the lowest bits stay.
  const whole = isFloat(x.dtype) ? e.cast(x, DType.int32) : x;
  return bits === 8 ? whole : lowBits(e, whole, type);
}

/** Integers of at most 16 bits are float32 numbers, larger ones float64 numbers or far beyond every narrow float. */
function wideEnough(e: Expressions, x: Expr): Expr {
  if (x.dtype === DType.float64) return x;
  const small: readonly DTypeCode[] = [DType.bool, DType.uint8, DType.int8, DType.uint16, DType.int16];
  return e.cast(x, isFloat(x.dtype) || small.includes(x.dtype) ? DType.float32 : DType.float64);
}

/**
 * The code of a float, to nearest, ties to even. With y = |x| / 2^least the code is round(y * 2^fraction) below y = 1;
 * above it, y is halved k times to [1, 2) and the code is 2^fraction * k + round(y * 2^fraction). Everything except the
 * rounding itself is exact arithmetic here.
 */
function floatCode(e: Expressions, given: Expr, float: NarrowFloat, { saturate, mode }: Rounding): Expr {
  const { fraction, min, sign, greatest, infinity, nan, unsignedZero } = float;
  const x = fraction === 0 ? e.cast(given, DType.float64) : given;
  const number = (value: number): Expr => e.like(x, value);
  const unit = 2 ** fraction;
  const max = fraction === 0 ? greatest : Math.floor(greatest / unit) - 1;
  const levels = Math.ceil(Math.log2(max + 1));
  // Beyond the greatest number, yet with the number of halvings given by the levels.
  const limit = number(2 ** (2 ** levels) * (1 - 2 ** -12));
  let y = e.min(e.mul(e.abs(x), number(2 ** -min)), limit);
  let halvings: Expr = number(0);
  for (let k = 2 ** (levels - 1); k >= 1; k /= 2) {
    const isLarge = e.le(number(2 ** k), y);
    y = e.select(isLarge, e.mul(y, number(2 ** -k)), y);
    halvings = e.add(halvings, e.cast(isLarge, x.dtype));
    if (k > 1) halvings = e.add(halvings, halvings);
  }
  const scaled =
    fraction === 0
      ? directed(e, e.add(halvings, e.max(e.sub(y, number(1)), number(0))), mode)
      : e.add(e.mul(halvings, number(unit)), e.round(e.mul(y, number(unit))));
  const isBeyond = e.lt(number(greatest), scaled);
  const top = saturate ? greatest : (infinity ?? nan ?? greatest);
  const magnitude = e.select(isBeyond, number(top), scaled);
  const byte = (value: number): Expr => e.constant(DType.uint8, BigInt(value));
  let code = e.cast(magnitude, DType.uint8);
  if (sign !== 0) {
    const isNegative = e.lt(x, number(0));
    const signed = unsignedZero ? e.and(isNegative, e.lt(number(0), magnitude)) : isNegative;
    code = e.or(code, e.select(signed, byte(sign), byte(0)));
  }
  return nan === undefined ? code : e.select(e.isNaN(x), byte(nan), code);
}

const directed = (e: Expressions, x: Expr, mode: string): Expr =>
  mode === "up" ? e.ceil(x) : mode === "down" ? e.floor(x) : e.round(x);
