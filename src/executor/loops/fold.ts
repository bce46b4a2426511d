import { ifElse, select } from "../../numerics/kernels/assembler/control.ts";
import type { Code } from "../../numerics/kernels/assembler/encoding.ts";
import type { FunctionBuilder, Local } from "../../numerics/kernels/assembler/functionBuilder.ts";
import { f32x4, i32, i32x4, i64, v128 } from "../../numerics/kernels/assembler/instructions.ts";
import { DType, dtypeBytes, isFloat, isSigned, type DType as DTypeCode } from "../../numerics/dtype.ts";
import { Reduce } from "../../program/types.ts";
import { extractLane } from "./access.ts";
import type { Accumulator } from "./floatSum.ts";
import { integerOperation, wrapped } from "./integerOperation.ts";
import { literal } from "./literal.ts";
import { exact, floatScalar, isWide, LANES, scalarType, splat, type Emitter, type LoopValue } from "./values.ts";
import { integerLanes, wrappedLanes } from "./vectorOperation.ts";

/** A fold. The results are locals with the accumulators' types. */
export type Fold = Accumulator & {
  results: readonly { local: Local; dtype: DTypeCode; isVector: boolean }[];
  /** Code that makes the results, after the last term. */
  end?: Code;
};

/** The result of a fold of no terms: the identity of the operation. */
function identity(reduce: Reduce, dtype: DTypeCode): Code {
  if (reduce === Reduce.sum || reduce === Reduce.dot) return literal(0n, dtype);
  const min = reduce === Reduce.max || reduce === Reduce.argmax || reduce === Reduce.argmaxLast;
  if (isFloat(dtype)) return floatScalar(dtype).const(min ? -Infinity : Infinity);
  if (dtype === DType.bool) return literal(min ? 0n : 1n, dtype);
  const bits = BigInt(8 * dtypeBytes(dtype));
  if (!isSigned(dtype)) return literal(min ? 0n : (1n << bits) - 1n, dtype);
  return literal(min ? -(1n << (bits - 1n)) : (1n << (bits - 1n)) - 1n, dtype);
}

/** `a` and `b` folded, scalars of one type: sum and dot modulo 2^32 or 2^64, max, min. */
function scalarStep(reduce: Reduce, dtype: DTypeCode, a: Code, b: Code, fn: FunctionBuilder): Code {
  if (reduce === Reduce.sum || reduce === Reduce.dot) return (isWide(dtype) ? i64.add : i32.add)(a, b);
  const name = reduce === Reduce.max ? "max" : "min";
  return isFloat(dtype) ? floatScalar(dtype)[name](a, b) : integerOperation(name, dtype, a, b, fn);
}

/**
 * Folds integer sums and products, and maxima and minima of any type, one term at a time. A NaN term makes the result
 * NaN.
 */
export function scalarFold(reduce: Reduce, dtype: DTypeCode, fn: FunctionBuilder): Fold {
  const type = scalarType(dtype);
  const [total, term] = [fn.local(type), fn.local(type)];
  return {
    results: [{ local: total, dtype, isVector: false }],
    begin: total.set(identity(reduce, dtype)),
    add: (a, b) => [
      term.set(b === undefined ? a.code : (isWide(dtype) ? i64.mul : i32.mul)(a.code, b.code)),
      total.set(scalarStep(reduce, dtype, total.get, term.get, fn)),
    ],
  };
}

/** Whether a reduction has a vector form of {@link vectorFold}. */
export const hasVectorFold = (reduce: Reduce, dtype: DTypeCode): boolean =>
  !isWide(dtype) && dtype !== DType.bool && [Reduce.sum, Reduce.dot, Reduce.max, Reduce.min].some((r) => r === reduce);

/** The same in LANES lanes. */
export function vectorFold(reduce: Reduce, dtype: DTypeCode, emitter: Emitter): Fold {
  if (isFloat(dtype)) return floatExtremum(reduce, dtype, emitter);
  const total = emitter.fn.local("v128");
  const term = emitter.fn.local("v128");
  const step = (a: Code, b: Code): Code => {
    if (reduce === Reduce.sum || reduce === Reduce.dot) return i32x4.add(a, b);
    return integerLanes(reduce === Reduce.max ? "max" : "min", dtype, a, b);
  };
  const code = (value: LoopValue): Code => splat(emitter, value).code;
  return {
    results: [{ local: total, dtype, isVector: true }],
    begin: total.set(i32x4.splat(identity(reduce, dtype))),
    add: (a, b) => [
      term.set(b === undefined ? code(a) : i32x4.mul(code(a), code(b))),
      total.set(step(total.get, term.get)),
    ],
  };
}

/**
 * Folds with a NaN-ignoring instruction, and records NaNs separately. A NaN-propagating instruction takes four times
 * longer.
 */
function floatExtremum(reduce: Reduce, dtype: DTypeCode, emitter: Emitter): Fold {
  const [total, term, noted] = [emitter.fn.local("v128"), emitter.fn.local("v128"), emitter.fn.local("v128")];
  const pick = reduce === Reduce.max ? f32x4.pmax : f32x4.pmin;
  return {
    results: [{ local: total, dtype, isVector: true }],
    begin: [total.set(f32x4.splat(identity(reduce, dtype))), noted.set(v128.const(new Array<number>(16).fill(0)))],
    add: (a) => [
      term.set(splat(emitter, a).code),
      total.set(pick(total.get, term.get)),
      noted.set(v128.or(noted.get, f32x4.ne(term.get, term.get))),
    ],
    // All bits set are a NaN.
    end: total.set(v128.or(total.get, noted.get)),
  };
}

/** Folds the lanes of one fold into another. */
export function foldLanes(reduce: Reduce, dtype: DTypeCode, to: Fold, from: Fold, fn: FunctionBuilder): Code {
  const total = to.results[0]!.local;
  const lane = fn.local(scalarType(dtype));
  return Array.from({ length: LANES }, (_, n) => [
    lane.set(extractLane(dtype, from.results[0]!.local.get, n)),
    total.set(scalarStep(reduce, dtype, total.get, lane.get, fn)),
  ]);
}

/**
 * Finds the index of the greatest or least term. NaN comes before all other terms in both orders. Among equal terms,
 * the lowest or highest index is taken.
 * @param index The row-major reduction index, an i32.
 */
export function positionFold(reduce: Reduce, dtype: DTypeCode, index: Code, fn: FunctionBuilder): Fold {
  const type = scalarType(dtype);
  const [best, term, at] = [fn.local(type), fn.local(type), fn.local("i64")];
  const greatest = reduce === Reduce.argmax || reduce === Reduce.argmaxLast;
  const highest = reduce === Reduce.argmaxLast || reduce === Reduce.argminLast;
  const before = (a: Code, b: Code, orEqual: boolean): Code => {
    const name = orEqual ? "le" : "lt";
    const [small, large] = greatest ? [b, a] : [a, b];
    if (!isFloat(dtype)) return integerOperation(name, dtype, small, large, fn);
    // A NaN comes before all numbers and equals another NaN.
    const f = floatScalar(dtype);
    const [aIsNaN, bIsNumber] = [f.ne(a, a), f.eq(b, b)];
    return i32.or(f[name](small, large), orEqual ? aIsNaN : i32.and(aIsNaN, bIsNumber));
  };
  return {
    results: [{ local: at, dtype: DType.int64, isVector: false }],
    begin: [best.set(identity(reduce, dtype)), at.set(i64.const(0n))],
    add: (a) => [
      term.set(a.code),
      ifElse(before(term.get, best.get, highest), [best.set(term.get), at.set(i64.extendI32U(index))]),
    ],
  };
}

/** Returns the second result of the last term with a true first result, and a flag for such a term's existence. */
export function lastFold(dtype: DTypeCode, fn: FunctionBuilder): Fold {
  const [value, found] = [fn.local(scalarType(dtype)), fn.local("i32")];
  return {
    results: [
      { local: value, dtype, isVector: false },
      { local: found, dtype: DType.bool, isVector: false },
    ],
    begin: [value.set(literal(0n, dtype)), found.set(i32.const(0))],
    add: (a, b) => [value.set(select(b!.code, value.get, a.code)), found.set(i32.or(found.get, a.code))],
  };
}

/** A fold's results as values to store; narrow sums are taken modulo 2^bits. */
export const foldResults = ({ results }: Fold, level: number): LoopValue[] =>
  results.map(({ local, dtype, isVector }) => ({
    ...exact((isVector ? wrappedLanes : wrapped)(dtype, local.get), dtype, level, isVector),
    mayBeNegativeZero: isFloat(dtype),
    mayBeOtherNaN: isFloat(dtype),
  }));
