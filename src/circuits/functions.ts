import { cast } from "../numerics/cast.ts";
import { DType, isFloat, isInteger, type DType as DTypeCode, type Word } from "../numerics/dtype.ts";
import { FLOAT32 } from "../numerics/format.ts";
import { FLOAT32_ARITHMETIC } from "../numerics/float32.ts";
import { bitLength, roundToFloat32 } from "../numerics/round.ts";
import { applyOperation } from "../program/expression.ts";
import { Op } from "../program/operations.ts";
import { absolute, type Fixed } from "./fixed.ts";
import { findStarts, fitLine, type Levels, type Line } from "./stepFunctions.ts";
import type { Choice } from "./tables.ts";
import { rangeOf } from "./words.ts";

/** A part of a function: an operation with constants for all operands but one, or a cast. */
export type Action = {
  readonly op: Op;
  /** The operands' type. */
  readonly dtype: DTypeCode;
  /** The result's type. */
  readonly to: DTypeCode;
  /** The operand's place among the operands. */
  readonly position: 0 | 1;
  /** The other operand; undefined if there is none. */
  readonly constant: Word | undefined;
};

/** A varying number from which functions start. */
type Root = { readonly fixed: Fixed; readonly dtype: DTypeCode; readonly choice?: Choice };

/** Words at which a function of rising or falling order ends. */
type Ends = readonly [least: Word, greatest: Word];

/** A varying number as actions on a root, not yet in constraints. */
export type Function = {
  readonly root: Root;
  readonly actions: readonly Action[];
  readonly dtype: DTypeCode;
  /** 1 if the function never falls, -1 if it never rises, else 0. */
  readonly direction: 1 | -1 | 0;
  /** The words at the root's bounds. */
  readonly ends: Ends;
  /** Whether some action is cheaper by a table or by levels. */
  readonly isHard: boolean;
  /** The same for functions with the same actions. */
  readonly key: string;
};

const { isNaN, isInfinite, decode } = FLOAT32_ARITHMETIC;

/** The function without actions. */
export function identityOf(root: Root): Function {
  const { fixed, dtype } = root;
  const ends: Ends = isFloat(dtype)
    ? [wordAt(fixed.low, fixed.unit, -1n), wordAt(fixed.high, fixed.unit, 1n)]
    : [fixed.low, fixed.high];
  return { root, actions: [], dtype, direction: 1, ends, isHard: false, key: `${dtype}` };
}

/** Adds an action to a function. */
export function withAction(before: Function, action: Action): Function {
  const { op, dtype, to, position, constant } = action;
  const ends = before.ends.map((word) => act(action, word)) as [Word, Word];
  return {
    root: before.root,
    actions: [...before.actions, action],
    dtype: to,
    direction: (before.direction * directionOf(action, before.ends, ends)) as Function["direction"],
    ends,
    isHard: before.isHard || isHard(action),
    key: `${before.key} ${op},${dtype},${to},${position},${constant ?? ""}`,
  };
}

/** The word of an action's result. */
function act({ op, dtype, to, position, constant }: Action, word: Word): Word {
  if (op === Op.cast) return cast(word, dtype, to);
  return position === 0
    ? applyOperation(op, dtype, word, constant ?? 0n, 0n)
    : applyOperation(op, dtype, constant!, word, 0n);
}

/** A function's word at a word of the root: by the definition of each operation. */
export const wordOf = ({ actions }: Pick<Function, "actions">, root: Word): Word =>
  actions.reduce((word, action) => act(action, word), root);

const HARD: readonly Op[] = [Op.round, Op.floor, Op.ceil];

function isHard({ op, dtype, to }: Action): boolean {
  if (op === Op.cast) return isFloat(dtype) && !isFloat(to);
  return !isFloat(dtype)
    ? BITWISE.includes(op)
    : op === Op.div || HARD.includes(op) || RISING.includes(op) || OTHERS.includes(op);
}

const RISING: readonly Op[] = [
  ...[Op.sqrt, Op.exp, Op.log, Op.tanh, Op.sigmoid, Op.erf, Op.expm1, Op.log1p],
  ...[Op.asin, Op.atan, Op.sinh, Op.asinh, Op.acosh, Op.atanh, ...HARD],
];
const BITWISE: readonly Op[] = [Op.div, Op.mod, Op.fmod, Op.and, Op.or, Op.xor, Op.not, Op.shl, Op.shr, Op.sign];
const OTHERS: readonly Op[] = [Op.sin, Op.cos, Op.tan, Op.acos, Op.cosh, Op.pow, Op.fmod, Op.sign];

/** 1 if an action keeps the order of words, -1 if it turns the order around, 0 if the order is unknown. */
function directionOf(action: Action, before: Ends, after: Ends): number {
  const { op, dtype, to, position, constant } = action;
  if (!isFloat(to)) {
    if (isFloat(dtype)) return op === Op.cast && to !== DType.bool ? 1 : 0;
    return isExact(action, before) ? slopeOf(op, position, constant) : 0;
  }
  // NaN lies at an end of the domain, if anywhere.
  if (to !== DType.float32 || after.some(isNaN)) return 0;
  if (op === Op.cast || op === Op.min || op === Op.max) return 1;
  if (constant !== undefined && (isNaN(constant) || isInfinite(constant))) return 0;
  if (RISING.includes(op)) return 1;
  // A quotient by 0 is NaN in the middle.
  if (op === Op.div && constant === 0n) return 0;
  if (op === Op.mul || (op === Op.div && position === 0)) return constant! >> 31n === 0n ? 1 : -1;
  return slopeOf(op, position, constant);
}

/** The direction for operations with floats and integers alike. */
function slopeOf(op: Op, position: 0 | 1, constant: Word | undefined): number {
  if (op === Op.add || op === Op.cast || op === Op.min || op === Op.max) return 1;
  if (op === Op.sub) return position === 0 ? 1 : -1;
  if (op === Op.mul) return constant! < 0n ? -1 : 1;
  return op === Op.neg ? -1 : 0;
}

/** Whether an integer action on numbers between two ends has the result of whole numbers: nothing wraps. */
function isExact({ op, to, position, constant }: Action, ends: Ends): boolean {
  const { low, high } = rangeOf(to)!;
  const exact = (word: Word): Word => {
    if (op === Op.add) return word + constant!;
    if (op === Op.sub) return position === 0 ? word - constant! : constant! - word;
    if (op === Op.mul) return word * constant!;
    return op === Op.neg ? -word : word;
  };
  return ends.map(exact).every((word) => word >= low && word <= high);
}

const SIGN = 1n << BigInt(FLOAT32.bits - 1);

/** Float32 words by the order of their numbers. */
const placeOf = (word: Word): bigint => ((word & SIGN) === 0n ? word : -(word & ~SIGN));
const wordAtPlace = (place: bigint): Word => (place < 0n ? SIGN | -place : place);

/** The float32 word of a number; beside the number, in the given direction, if the number is no float32. */
function wordAt(value: bigint, unit: number, direction: 1n | -1n): Word {
  const word = roundToFloat32(value < 0n, absolute(value), unit);
  const isBeyond = direction === 1n ? compare(word, value, unit) >= 0 : compare(word, value, unit) <= 0;
  return isBeyond ? word : wordAtPlace(placeOf(word) + direction);
}

/** -1, 0 or 1 as a word's number lies below, at or above another number. */
function compare(word: Word, value: bigint, unit: number): number {
  const { negative, mantissa, exponent } = decode(word);
  const least = Math.min(exponent, unit);
  const difference = ((negative ? -mantissa : mantissa) << BigInt(exponent - least)) - (value << BigInt(unit - least));
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** A finite word's number in a unit, rounded down or up. */
function numberIn(word: Word, unit: number, up: boolean): bigint {
  const { negative, mantissa, exponent } = decode(word);
  const signed = negative ? -mantissa : mantissa;
  if (exponent >= unit) return signed << BigInt(exponent - unit);
  const places = BigInt(unit - exponent);
  return up ? -(-signed >> places) : signed >> places;
}

/** How a function with few levels is computed: the levels for the root's numbers, or for the numbers times -1. */
type Steps = {
  readonly isMirrored: boolean;
  /** The integer at level 0. */
  readonly least: bigint;
  readonly levels: Levels;
  readonly line: Line | undefined;
};

/** The most levels of a function. */
const MAX_LEVELS = 256n;

/** Whether a function has levels: integers, never falling or never rising, few. */
export function hasLevels({ dtype, direction, ends, isHard }: Function): boolean {
  return isHard && isInteger(dtype) && direction !== 0 && absolute(ends[1] - ends[0]) < MAX_LEVELS;
}

/** The levels of functions: functions with the same actions on similar roots share levels. */
export class StepTable {
  readonly #known = new Map<string, Steps>();

  /** @param of A function that has levels. */
  stepsOf(of: Function): Steps {
    const wide = widened(of);
    const { fixed, dtype } = wide.root;
    const [low, high] = isFloat(dtype) ? identityOf(wide.root).ends.map(placeOf) : [fixed.low, fixed.high];
    const key = `${of.key} ${fixed.unit} ${low} ${high}`;
    const known = this.#known.get(key) ?? computeSteps(wide, low!, high!);
    this.#known.set(key, known);
    return known;
  }
}

/** The function on bounds shared by many integers, powers of two, if the function keeps its order there. */
function widened(of: Function): Function {
  const { fixed, dtype } = of.root;
  if (isFloat(dtype)) return of;
  const { low: first, high: last } = rangeOf(dtype)!;
  const size = (value: bigint): bigint => 1n << BigInt(bitLength(value));
  const below = fixed.low < 0n ? -size(-fixed.low) : 0n;
  const above = fixed.high > 0n ? size(fixed.high) : 0n;
  const [low, high] = [below < first ? first : below, above > last ? last : above];
  const wide = of.actions.reduce(withAction, identityOf({ dtype, fixed: { ...fixed, low, high } }));
  return hasLevels(wide) ? wide : of;
}

function computeSteps(of: Function, low: bigint, high: bigint): Steps {
  const { fixed, dtype } = of.root;
  const isOfFloats = isFloat(dtype);
  const isMirrored = of.direction < 0;
  const [from, to] = isMirrored ? [-high, -low] : [low, high];
  const level = (place: bigint): bigint => {
    const x = isMirrored ? -place : place;
    return wordOf(of, isOfFloats ? wordAtPlace(x) : x);
  };
  const least = level(from);
  const starts = findStarts(level, from, to);
  // A mirrored place is the place of the negated number.
  const number = (place: bigint, up: boolean): bigint =>
    isOfFloats ? numberIn(wordAtPlace(place), fixed.unit, up) : place;
  const levels = {
    starts: starts.map((place) => number(place, true)),
    before: starts.map((place) => number(place - 1n, false)),
  };
  return { isMirrored, least, levels, line: fitLine(levels, !isOfFloats) };
}
