import { DType } from "../../numerics/dtype.ts";
import type { Expressions } from "../expressions/expression.ts";
import { allRadices, type LazyTensor } from "../expressions/tensor.ts";

/**
 * Returns the few-bit integers packed in the bytes of a tensor's last dimension, the lowest bits first: a view with a
 * longer last dimension.
 * @param bytes uint8, of at least one dimension.
 * @param bits 2, 4 or 8.
 * @param isSigned True for integers in two's complement: the result is int8, else uint8.
 */
export function unpackedLast(e: Expressions, bytes: LazyTensor, bits: number, isSigned: boolean): LazyTensor {
  const number = (value: number) => e.constant(DType.uint8, BigInt(value));
  const perByte = 8 / bits;
  const place = e.cast(e.digit(allRadices(bytes.digits).length), DType.uint8);
  const shifted = perByte === 1 ? bytes.expr : e.shr(bytes.expr, e.mul(place, number(bits)));
  const low = perByte === 1 ? shifted : e.and(shifted, number(2 ** bits - 1));
  const sign = number(2 ** (bits - 1));
  const expr = isSigned ? e.cast(e.sub(e.xor(low, sign), sign), DType.int8) : low;
  const [shape, digits] = [bytes.shape.slice(0, -1), bytes.digits.slice(0, -1)];
  return {
    dtype: expr.dtype,
    shape: [...shape, bytes.shape.at(-1)! * perByte],
    digits: [...digits, [...bytes.digits.at(-1)!, ...(perByte === 1 ? [] : [perByte])]],
    expr,
    order: bytes.order,
  };
}
