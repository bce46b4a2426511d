import { DType, isFloat } from "../../numerics/dtype.ts";
import type { Expr } from "../expressions/expression.ts";
import type { NodeContext } from "../lowering/nodeContext.ts";
import type { LazyTensor } from "../expressions/tensor.ts";
import { broadcast } from "../lowering/broadcast.ts";

/** Exponent bits per step; a step squares and multiplies through them. */
const BITS_PER_STEP = 6;

const EXPONENT_BITS = new Map<DType, number>([
  [DType.int8, 7],
  [DType.int16, 15],
  [DType.int32, 31],
  [DType.int64, 63],
  [DType.uint8, 8],
  [DType.uint16, 16],
  [DType.uint32, 32],
]);

/**
 * The facts about the exponents known at compile time: the number of bits, and whether any exponent may be negative.
 */
function exponentRange(context: NodeContext, exponent: LazyTensor, from: DType): { bits: number; negative: boolean } {
  const words = isFloat(exponent.dtype) ? undefined : context.builder.words(exponent);
  if (words !== undefined) {
    const bits = Math.max(...words.map((word) => (word < 0n ? 0 : word.toString(2).length)));
    return { bits, negative: words.some((word) => word < 0n) };
  }
  const bits = EXPONENT_BITS.get(from) ?? context.refuse("input 1", `is of element type ${from}`);
  return { bits, negative: ![DType.uint8, DType.uint16, DType.uint32].some((type) => type === from) };
}

/**
 * An integer x to the power y, modulo 2^n, by squaring: each step takes some bits of y. A negative y gives 1 / x^|y|
 * truncated, which is 0 unless x is 1 or -1; it gives 0 for x = 0. A float32 y may be an
 * integer too; for any other y the result is the float32 power, truncated.
 */
export function integerPower(context: NodeContext, base: LazyTensor, exponent: LazyTensor): LazyTensor {
  const { builder, expressions: e } = context;
  const { dtype } = base;
  const k = (type: DType, value: number): Expr => e.constant(type, BigInt(value));
  const { bits, negative } = exponentRange(context, exponent, isFloat(exponent.dtype) ? DType.int64 : exponent.dtype);
  const power = broadcast(context, [exponent], (y) => e.cast(y, DType.int64));
  const bit = (y: Expr, at: number): Expr => {
    const shifted = e.shr(y, k(DType.int64, at));
    return e.cast(e.and(shifted, k(DType.int64, 1)), DType.bool);
  };
  let result = broadcast(context, [base, power], () => k(dtype, 1), true);
  let square = base;
  for (let start = 0; start < bits; start += BITS_PER_STEP) {
    const end = Math.min(bits, start + BITS_PER_STEP);
    const multiply = (r: Expr, s: Expr, y: Expr): Expr => {
      let [product, own] = [r, s];
      for (let at = start; at < end; at++) {
        product = e.select(bit(y, at), e.mul(product, own), product);
        own = e.mul(own, own);
      }
      return product;
    };
    result = broadcast(context, [result, square, power], multiply, true);
    if (end === bits) break;
    builder.realise(result);
    square = broadcast(context, [square], (s) => {
      let own = s;
      for (let at = start; at < end; at++) own = e.mul(own, own);
      return own;
    });
    builder.realise(square);
  }
  if (negative) {
    const reciprocal = (x: Expr, y: Expr, r: Expr): Expr => {
      const isOne = e.eq(x, k(dtype, 1));
      const one = e.select(isOne, k(dtype, 1), k(dtype, 0));
      const minusOne = e.neg(k(dtype, 1));
      const odd = e.select(bit(y, 0), minusOne, k(dtype, 1));
      const unit = e.select(e.eq(x, minusOne), odd, one);
      return e.select(e.lt(y, k(DType.int64, 0)), unit, r);
    };
    result = broadcast(context, [base, power, result], reciprocal, true);
  }
  if (!isFloat(exponent.dtype)) return result;
  const choose = (x: Expr, y: Expr, r: Expr): Expr => {
    const truncated = e.cast(e.pow(e.cast(x, y.dtype), y), dtype);
    return e.select(e.eq(y, e.floor(y)), r, truncated);
  };
  return broadcast(context, [base, exponent, result], choose, true);
}
