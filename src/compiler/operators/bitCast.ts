import {
  DType,
  dtypeBytes,
  dtypeName,
  floatFormat,
  isDType,
  isFloat,
  isInteger,
  writeWord,
} from "../../numerics/dtype.ts";
import type { DType as DTypeCode } from "../../numerics/dtype.ts";
import { numberWord } from "../../numerics/numbers.ts";
import type { Expr, Expressions } from "../expressions/expression.ts";
import type { LazyTensor } from "../expressions/tensor.ts";
import { broadcast } from "../lowering/broadcast.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";
import { gatherAlong } from "./gather.ts";

/** A float type's layout, with integers of equal size: signed integers for 64 bits, where constants fit 63 bits. */
type Layout = { dtype: DTypeCode; bits: DTypeCode; size: number; fraction: number; bias: number };

function layoutOf(context: NodeContext, dtype: DTypeCode, what: string): Layout {
  const bits = dtype === DType.float32 ? DType.uint32 : dtype === DType.float64 ? DType.int64 : undefined;
  if (bits === undefined)
    return context.refuse(what, `is ${dtypeName(dtype)}: of floats, float32 and float64 are taken`);
  const [size, fraction] = [8 * dtypeBytes(dtype), floatFormat(dtype).fractionBits];
  return { dtype, bits, size, fraction, bias: 2 ** (size - fraction - 2) - 1 };
}

/**
 * BitCast between types with equal size. The bits of floats are computed: only a single zero exists, with bits 0, and a
 * single NaN.
 */
export const bitCast: Lower = (context) => {
  const e = context.expressions;
  const x = context.input(0);
  const to = context.int("to", 0);
  if (x.narrow !== undefined) context.refuse("input 0", `is of ${x.narrow}: cast it to another type first`);
  if (!isDType(to)) return context.refuse("to", `is element type ${to}, which is not executed here`);
  if (dtypeBytes(to) !== dtypeBytes(x.dtype))
    return context.fail(`${dtypeName(x.dtype)} and ${dtypeName(to)} differ in size`);
  if (to === x.dtype) return [x];
  const bits = isFloat(x.dtype) ? bitsOf(context, x) : x;
  if (isFloat(to)) return [floatOf(context, bits, to)];
  if (!isInteger(to)) return context.refuse("to", `is ${dtypeName(to)}`);
  return [broadcast(context, [bits], (v) => e.cast(v, to))];
};

/** Returns the float for an integer's bits: the fraction times a power of two from a table, exactly. */
function floatOf(context: NodeContext, integer: LazyTensor, dtype: DTypeCode): LazyTensor {
  const { builder, expressions: e } = context;
  const { bits, size, fraction, bias } = layoutOf(context, dtype, "to");
  const { infinity, nan } = floatFormat(dtype);
  const word = (value: bigint): Expr => e.constant(bits, value);
  const raw = broadcast(context, [integer], (v) => e.cast(v, bits));
  builder.realise(raw);
  const magnitudeOf = (v: Expr): Expr => e.and(v, word(2n ** BigInt(size - 1) - 1n));
  const exponents = broadcast(context, [raw], (v) =>
    e.cast(e.shr(magnitudeOf(v), word(BigInt(fraction))), DType.int32),
  );
  const count = 2 ** (size - fraction - 1);
  const bytes = new Uint8Array(count * dtypeBytes(dtype));
  for (let k = 0; k < count - 1; k++)
    writeWord(bytes, k, dtype, numberWord(2 ** (Math.max(k, 1) - bias - fraction), dtype));
  const powers = gatherAlong(context, builder.constant({ dtype, shape: [count], bytes }), exponents, 0);
  return broadcast(
    context,
    [raw, powers],
    (v, power) => {
      const magnitude = magnitudeOf(v);
      const low = e.and(v, word(2n ** BigInt(fraction) - 1n));
      const isNormal = e.le(word(2n ** BigInt(fraction)), magnitude);
      const whole = e.or(low, e.select(isNormal, word(2n ** BigInt(fraction)), word(0n)));
      const finite = e.mul(e.cast(whole, dtype), power);
      const value = e.select(e.eq(magnitude, word(infinity)), e.constant(dtype, infinity), finite);
      const signed = e.select(e.eq(magnitude, v), value, e.neg(value));
      return e.select(e.lt(word(infinity), magnitude), e.constant(dtype, nan), signed);
    },
    true,
  );
}

/** Halves y until y is below 2, at most 2 * `max` - 1 times; also returns the number of halvings. */
function halved(e: Expressions, y: Expr, max: number, min: number): { y: Expr; count: Expr } {
  let count: Expr = e.like(y, 0);
  for (let k = max; k >= min; k /= 2) {
    const isLarge = e.le(e.like(y, 2 ** k), y);
    y = e.select(isLarge, e.mul(y, e.like(y, 2 ** -k)), y);
    count = e.add(count, e.mul(e.cast(isLarge, y.dtype), e.like(y, k)));
  }
  return { y, count };
}

/**
 * The bits of a float. With bias - 1 = b, y = |x| * 2^b below 1 and |x| from 1 on, halved k times to below 2, the bits
 * are (k, or k + b) * 2^fraction + y * 2^fraction.
 */
function bitsOf(context: NodeContext, x: LazyTensor): LazyTensor {
  const { builder, expressions: e } = context;
  const { dtype, bits, fraction, bias } = layoutOf(context, x.dtype, "input 0");
  const { nan, infinity, sign } = floatFormat(dtype);
  const start = (v: Expr): Expr => {
    const magnitude = e.abs(v);
    return e.select(e.lt(magnitude, e.like(v, 1)), e.mul(magnitude, e.like(v, 2 ** (bias - 1))), magnitude);
  };
  builder.plain(x);
  // In two parts: the whole computation exceeds a step's limits.
  const [max, middle] = [(bias + 1) / 2, 2 ** Math.floor(Math.log2(bias) / 2)];
  const near = broadcast(context, [x], (v) => halved(e, start(v), max, 2 * middle).y);
  builder.realise(near);
  const far = broadcast(context, [x], (v) => halved(e, start(v), max, 2 * middle).count);
  builder.realise(far);
  return broadcast(
    context,
    [x, near, far],
    (v, part, already) => {
      const { y, count } = halved(e, part, middle, 1);
      const isSmall = e.lt(e.abs(v), e.like(v, 1));
      const halvings = e.add(e.add(count, already), e.select(isSmall, e.like(v, 0), e.like(v, bias - 1)));
      const word = (value: bigint): Expr => e.constant(bits, value);
      const top = e.shl(e.cast(halvings, bits), word(BigInt(fraction)));
      const finite = e.add(top, e.cast(e.mul(y, e.like(v, 2 ** fraction)), bits));
      const magnitude = e.select(e.isInf(v), word(infinity), e.select(e.isNaN(v), word(nan), finite));
      return e.or(
        magnitude,
        e.select(e.lt(v, e.like(v, 0)), word(bits === DType.int64 ? BigInt.asIntN(64, sign) : sign), word(0n)),
      );
    },
    true,
  );
}
