import { bitLength } from "../numerics/round.ts";

/**
 * A never falling function of integers with few values: where each level begins. Level l holds from `starts[l - 1]`
 * on; `before[l - 1]` is the greatest number with a lower level.
 */
export type Levels = { readonly starts: readonly bigint[]; readonly before: readonly bigint[] };

/**
 * A line that gives a function's levels: floor((slope * x + offset) / 2^places), between 0 and the highest level, and
 * plus 1 or minus 1 at a few numbers.
 */
export type Line = {
  readonly slope: bigint;
  readonly offset: bigint;
  readonly places: number;
  readonly exceptions: ReadonlyMap<bigint, bigint>;
  /** Levels of a parity that hold only from the second number on: where halves go to even. */
  readonly ties?: {
    readonly parity: 0 | 1;
    /** The first number's remainder is below 2^bits, remainders of later numbers are not. */ readonly bits: number;
  };
};

/** The finest line to try; longer remainders would cost more constraints than a table. */
const MAX_PLACES = 100;
/** Slopes to try for each fineness. */
const SLOPES = 32n;
/** A number is cut into so many parts when points are moved. */
const PARTS_BITS = 4n;
const PARTS = 1n << PARTS_BITS;
/** How far points may be moved, in parts. */
const MOVES = [0n, 1n, 3n, 7n] as const;
/** The most numbers where a line is wrong: each costs two constraints. */
const MAX_EXCEPTIONS = 16;
/** Up to so many exceptions cost less than ties. */
const FEW = 2;

/**
 * Finds where levels begin.
 * @param level The never falling function.
 * @param low The least number; the function's value there is level 0.
 */
export function findStarts(level: (x: bigint) => bigint, low: bigint, high: bigint): bigint[] {
  const starts: bigint[] = [];
  const search = (from: bigint, to: bigint, below: bigint, above: bigint): void => {
    if (below === above) return;
    if (to - from === 1n) {
      for (let l = below; l < above; l++) starts.push(to);
      return;
    }
    const middle = (from + to) >> 1n;
    const between = level(middle);
    search(from, middle, below, between);
    search(middle, to, between, above);
  };
  search(low, high, level(low), level(high));
  return starts;
}

/**
 * The line with the shortest remainders and all levels of a function. Where a function rounds twice, points may lie on
 * the wrong side of every line: such points are exceptions.
 * @returns Undefined if no line fits.
 */
export function fitLine(levels: Levels, mayHaveExceptions: boolean): Line | undefined {
  const line = lineWithExceptions(levels, mayHaveExceptions ? MOVES : [0n]);
  if (!mayHaveExceptions || (line !== undefined && line.exceptions.size <= FEW)) return line;
  return lineWithTies(levels, 0) ?? lineWithTies(levels, 1) ?? line;
}

function lineWithExceptions(levels: Levels, moves: readonly bigint[]): Line | undefined {
  for (const move of moves) {
    const line = shortestLine(movedBy(levels, move));
    if (line === undefined) continue;
    const exceptions = exceptionsOf(levels, line);
    if (exceptions !== undefined) return { ...line, exceptions };
  }
  return undefined;
}

const movedBy = ({ starts, before }: Levels, move: bigint): Levels => ({
  starts: starts.map((x) => PARTS * x + move),
  before: before.map((x) => PARTS * x - move),
});

/** A line for levels beginning between two numbers, where a half belongs to the even level. */
function lineWithTies({ starts, before }: Levels, parity: 0 | 1): Line | undefined {
  const earlier = (x: bigint, k: number): bigint => ((k + 1) % 2 === parity ? x - 1n : x);
  const levels = { starts: starts.map(earlier), before: before.map(earlier) };
  const line = shortestLine(movedBy(levels, 0n));
  if (line === undefined) return undefined;
  const { slope, offset, places } = line;
  const bits = bitLength(slope) - 1;
  const isFirst = (x: bigint, level: bigint): boolean =>
    slope * x + offset - (level << BigInt(places)) < 1n << BigInt(bits);
  if (levels.starts.some((x, k) => (k + 1) % 2 === parity && !isFirst(x, BigInt(k + 1)))) return undefined;
  // Level 0 has no lower one.
  const zero = -(offset / slope) + (offset < 0n && offset % slope !== 0n ? 1n : 0n);
  const exceptions = new Map<bigint, bigint>(parity === 0 && isFirst(zero, 0n) ? [[zero, 1n]] : []);
  return { ...line, exceptions, ties: { parity, bits } };
}

type Straight = Omit<Line, "exceptions" | "ties">;
type Ratio = { over: bigint; under: bigint };

/** The slopes between which lines separate each level's start from the number before. */
function slopesOf({ starts, before }: Levels): { least: Ratio; most: Ratio | undefined } | undefined {
  let least: Ratio = { over: 0n, under: 1n };
  let most: Ratio | undefined;
  for (let i = 0; i < starts.length; i++)
    for (let j = 0; j < before.length; j++) {
      const [rise, run] = [BigInt(i - j), starts[i]! - before[j]!];
      if (run > 0n && rise * least.under > least.over * run) least = { over: rise, under: run };
      if (run < 0n && (most === undefined || rise * most.under > most.over * run)) most = { over: -rise, under: -run };
      if (run <= 0n && rise >= 0n) return undefined;
    }
  return { least, most };
}

function shortestLine(levels: Levels): Straight | undefined {
  const slopes = slopesOf(levels);
  if (slopes === undefined) return undefined;
  const { least, most } = slopes;
  if (most !== undefined && least.over * most.under >= most.over * least.under) return undefined;
  for (let places = 0; places <= MAX_PLACES; places++) {
    const unit = 1n << BigInt(places);
    // Slopes are by parts here, and by whole numbers in the line.
    const first = (least.over * PARTS * unit) / least.under + 1n;
    const last = most === undefined ? first + SLOPES : (most.over * PARTS * unit - 1n) / most.under;
    for (let slope = first; slope <= last && slope <= first + SLOPES; slope++) {
      const offset = offsetFor(levels, slope, unit);
      if (offset !== undefined) return { slope, offset, places };
    }
  }
  return undefined;
}

/** An offset with which a line of some slope gives all levels. */
function offsetFor({ starts, before }: Levels, slope: bigint, unit: bigint): bigint | undefined {
  let [least, most] = [undefined, undefined] as [bigint | undefined, bigint | undefined];
  starts.forEach((start, k) => {
    const level = BigInt(k + 1) * unit;
    const needed = -((slope * start - PARTS * level) >> PARTS_BITS);
    const allowed = (PARTS * level - slope * before[k]! - 1n) >> PARTS_BITS;
    if (least === undefined || needed > least) least = needed;
    if (most === undefined || allowed < most) most = allowed;
  });
  return least !== undefined && most !== undefined && least <= most ? least : undefined;
}

/** Where a line has another level than the function, and the difference. @returns Undefined for too many exceptions */
function exceptionsOf({ starts }: Levels, { slope, offset, places }: Straight): Map<bigint, bigint> | undefined {
  const exceptions = new Map<bigint, bigint>();
  for (const [k, start] of starts.entries()) {
    const needed = (BigInt(k + 1) << BigInt(places)) - offset;
    const lineStart = needed >= 0n ? (needed + slope - 1n) / slope : -(-needed / slope);
    const difference = lineStart > start ? 1n : -1n;
    const [from, to] = lineStart > start ? [start, lineStart] : [lineStart, start];
    if (to - from > BigInt(MAX_EXCEPTIONS)) return undefined;
    for (let x = from; x < to; x++) exceptions.set(x, (exceptions.get(x) ?? 0n) + difference);
  }
  return exceptions.size > MAX_EXCEPTIONS ? undefined : exceptions;
}
