import type { Code } from "../../numerics/kernels/assembler/encoding.ts";
import { i32, i64 } from "../../numerics/kernels/assembler/instructions.ts";
import { DType, dtypeBytes } from "../../numerics/dtype.ts";
import { axisRange } from "../../program/loops.ts";
import type { Axis, View } from "../../program/types.ts";
import { widened } from "./castOperation.ts";
import { isWide, store, type Emitter, type LoopValue } from "./values.ts";

/**
 * A digit in the generated loops: its value, level and radix. A digit that is always 0 has no entry. A digit of an
 * unrolled loop has a constant value.
 */
export type DigitLocal = { code: Code; level: number; radix: number; value?: number };
export type Digits = ReadonlyMap<number, DigitLocal>;

/** An i32 and the loop level from which its value can be used. */
type Number32 = { code: Code; level: number };

/** A constant modulo 2^32, as addresses are computed. */
export const addressConstant = (value: number): Code => i32.const(Number(BigInt.asIntN(32, BigInt(value))));

/** Adds up numbers, outer levels first, to run each addition as rarely as possible. */
function sum(emitter: Emitter, values: readonly Number32[]): Number32 {
  return combine(emitter, values, i32.add);
}

/** Whether all conditions hold. */
export function allHold(emitter: Emitter, values: readonly Number32[]): Number32 {
  return combine(emitter, values, i32.and);
}

function combine(emitter: Emitter, values: readonly Number32[], operation: (a: Code, b: Code) => Code): Number32 {
  const [first, ...rest] = [...values].sort((a, b) => a.level - b.level);
  return rest.reduce((left, { code, level }) => {
    return { code: store(emitter, "i32", operation(left.code, code), level).get, level };
  }, first!);
}

/** `start + sum of coeff * digit`. */
export function linear(
  emitter: Emitter,
  digits: Digits,
  start: Number32,
  terms: Iterable<{ digit: number; coeff: number }>,
): Number32 {
  const values = [...terms].flatMap(({ digit, coeff }) => {
    const known = digits.get(digit);
    if (known === undefined || coeff === 0) return [];
    return [{ code: coeff === 1 ? known.code : i32.mul(known.code, addressConstant(coeff)), level: known.level }];
  });
  return sum(emitter, [start, ...values]);
}

/**
 * Emits the address that a view reads.
 * @param source The address of the input.
 * @param indexOf The scalar value of an earlier read.
 * @returns The address, meaningless out of bounds, and the bounds-testing code, undefined for a read always within
 *   bounds.
 */
export function emitAddress(
  emitter: Emitter,
  digits: Digits,
  view: View,
  source: { address: Code; dtype: DType },
  indexOf: (read: number) => LoopValue,
): { address: Number32; inside: Number32 | undefined } {
  const size = dtypeBytes(source.dtype);
  const conditions: Number32[] = [];
  const offsets: Number32[] = [];
  const unchecked = new Map<number, number>();
  let start = 0;
  for (const axis of view.axes.map((each) => withoutConstants(each, digits))) {
    const [low, high] = axisRange(axis, (digit) => digits.get(digit)?.radix ?? 1);
    const move = axis.stride * size;
    if (axis.indirect === undefined && axis.div === 1 && low >= 0 && high < axis.extent) {
      start += axis.base * move;
      for (const { digit, coeff } of axis.coeffs) unchecked.set(digit, (unchecked.get(digit) ?? 0) + coeff * move);
    } else {
      const { value, inside } = emitCoordinate(emitter, digits, axis, indexOf);
      conditions.push(inside);
      offsets.push({ code: i32.mul(value.code, addressConstant(move)), level: value.level });
    }
  }
  const base = { code: i32.add(source.address, addressConstant(start)), level: 0 };
  const terms = [...unchecked].map(([digit, coeff]) => ({ digit, coeff }));
  const address = sum(emitter, [linear(emitter, digits, base, terms), ...offsets]);
  return { address, inside: conditions.length === 0 ? undefined : allHold(emitter, conditions) };
}

/** Moves the contribution of constant digits to a coordinate into the coordinate's base. */
function withoutConstants(axis: Axis, digits: Digits): Axis {
  const constantOf = ({ digit, coeff }: Axis["coeffs"][number]): number => coeff * (digits.get(digit)?.value ?? 0);
  const base = axis.coeffs.reduce((sum, term) => sum + constantOf(term), axis.base);
  return { ...axis, base, coeffs: axis.coeffs.filter(({ digit }) => digits.get(digit)?.value === undefined) };
}

/** An index at least this large stays out of bounds after any addition. */
const FAR = 2n ** 62n;

function emitCoordinate(
  emitter: Emitter,
  digits: Digits,
  axis: Axis,
  indexOf: (read: number) => LoopValue,
): { value: Number32; inside: Number32 } {
  const affine = linear(emitter, digits, { code: i32.const(axis.base), level: 0 }, axis.coeffs);
  const limit = axis.extent * axis.div;
  if (axis.indirect === undefined) {
    const c = store(emitter, "i32", affine.code, affine.level).get;
    const isInside = i32.ltU(c, i32.const(limit));
    return divided(emitter, c, isInside, axis.div, affine.level);
  }
  const index = indexOf(axis.indirect);
  const level = Math.max(affine.level, index.level);
  const v = store(emitter, "i64", isWide(index.dtype) ? index.code : widened(index.dtype, index.code), index.level).get;
  // A negative index wraps once.
  const wraps =
    index.dtype === DType.uint64 ? i64.const(0n) : i64.and(i64.shrS(v, i64.const(63n)), i64.const(BigInt(axis.extent)));
  const c = store(emitter, "i64", i64.add(i64.add(v, wraps), i64.extendI32S(affine.code)), level).get;
  const near =
    index.dtype === DType.uint64
      ? i64.ltU(v, i64.const(FAR))
      : i64.ltU(i64.add(v, i64.const(FAR)), i64.const(2n * FAR));
  const isInside = i32.and(near, i64.ltU(c, i64.const(BigInt(limit))));
  return divided(emitter, i32.wrapI64(c), isInside, axis.div, level);
}

function divided(
  emitter: Emitter,
  c: Code,
  isInside: Code,
  div: number,
  level: number,
): { value: Number32; inside: Number32 } {
  const keep = (code: Code): Number32 => ({ code: store(emitter, "i32", code, level).get, level });
  if (div === 1) return { value: { code: c, level }, inside: keep(isInside) };
  const by = i32.const(div);
  // If c lies outside, the remainder does not matter.
  return { value: keep(i32.divU(c, by)), inside: keep(i32.and(isInside, i32.eqz(i32.remU(c, by)))) };
}
