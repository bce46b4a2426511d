import { expFixed } from "../../elementary64/expCore.ts";
import { LN2 } from "../../elementary64/wide.ts";
import { inverseFactorials, onFirstUse, pairsOf, partsOf } from "./constants.ts";
import { add, div, LOW, mul, polynomial, powerOfTwo, sumOf } from "./doubleDouble.ts";

const STEPS = 64;
const STEPS_PER_UNIT = STEPS / Math.LN2;

/** ln(2)/64. */
const [STEP_1, STEP_2, STEP_3] = partsOf(((LN2 << 8n) + 32n) / BigInt(STEPS), 32);

/** 2^(j/64). */
const powersOf2 = onFirstUse(() =>
  pairsOf(Array.from({ length: STEPS }, (_, j) => expFixed((BigInt(j) * LN2) / BigInt(STEPS)))),
);

/** 1/1!, 1/2!, ..., 1/10!. */
const GROWTH = inverseFactorials(1, 1, 10);

/** From 1/6! on. */
const PLAIN = 5;

/** The last {@link power}'s exponent, and its k. */
let exponent = 0;
let step = 0;

/** The last {@link power}'s e^r - 1. */
const GROWN = new Float64Array(2);

/**
 * e^t = (high + low) 2^exponent for |t| < 2^10, high in 0.99 .. 2: off by less than 2^-98 of it where low is 0, than
 * 2^-95 where |low| < 2^-43.
 *
 * t = k ln(2)/64 + r, |r| < 2^-7.5. k has at most 17 bits, so that its products with the first two parts are exact, and
 * so is the first difference; the product with the third part and what is left of ln(2)/64 cost 2^-106, the two sums
 * 2^-108 and 2^-110: r is off by less than 2^-105. A low part is rounded where it is added: r is off by 2^-96 more. The
 * series is cut after r^10/10! (the rest is below 2^-107); from r^6/6! on (2^-54) it is plain: 2^-104. The products
 * with the power and the sum cost less than 2^-100.
 */
function power(high: number, low: number): number {
  const k = Math.round(high * STEPS_PER_UNIT);
  let r = sumOf(high, -k * STEP_1);
  r = add(r, LOW[0]!, -k * STEP_2, low);
  r = add(r, LOW[0]!, -k * STEP_3, 0);
  const rLow = LOW[0]!;
  const sum = polynomial(r, rLow, GROWTH, PLAIN);
  const growth = mul(sum, LOW[0]!, r, rLow);
  const growthLow = LOW[0]!;
  GROWN[0] = growth;
  GROWN[1] = growthLow;
  step = k;
  exponent = Math.floor(k / STEPS);
  const j = k - exponent * STEPS;
  const powers = powersOf2();
  const base = powers.high[j]!;
  const baseLow = powers.low[j]!;
  const grown = mul(base, baseLow, growth, growthLow);
  return add(base, baseLow, grown, LOW[0]!);
}

/**
 * e^t - 1 for -64 <= t < 709.7: off by less than 2^-88 of it. Where k is 0 it is the series itself, whose plain part,
 * from r^5/6! of 1 on (2^-47), costs 2^-97; otherwise |e^t - 1| > 2^-8.6.
 */
function expm1Pair(high: number, low: number): number {
  const y = power(high, low);
  if (step === 0) {
    LOW[0] = GROWN[1]!;
    return GROWN[0]!;
  }
  const scale = powerOfTwo(exponent);
  return add(y * scale, LOW[0]! * scale, -1, 0);
}

/** Below 2^-27 results are x itself or 1, which the definition has at once. */
export const TINY = 2 ** -27;

/** The argument range: above MIN, powers have normal low parts; up to MAX, powers are finite. */
const MIN = -620;
const MAX = 709.7;

/** A number that is known exactly. */
export function exactly(value: number): number {
  LOW[0] = 0;
  return value;
}

/*
 * Estimates: the high part, NaN where the definition is to compute the result: for NaN, where the result is infinite or
 * may be subnormal, or where it is trivial. The bounds are relative.
 */

/** e^t for t = high + low: off by what t is off by, and 2^-98; 2^-95 where low is not 0 but below 2^-43. */
export function expPair(high: number, low: number): number {
  if (!(high > MIN && high < MAX)) return NaN;
  const y = power(high, low);
  const scale = powerOfTwo(exponent);
  LOW[0]! *= scale;
  return y * scale;
}

/** Off by less than 2^-98. Beyond the subnormal range, frequent for masks, the result is 0. */
export const exp = (x: number): number => (x < -746 ? exactly(0) : expPair(x, 0));

/** Off by less than 2^-88. */
export function expm1(x: number): number {
  if (x < -64) return exactly(-1);
  return Math.abs(x) > TINY && x < MAX ? expm1Pair(x, 0) : NaN;
}

/** u/(1 + u) with u = e^x, for a negative x; 1/(1 + u) with u = e^-x: off by less than 2^-96. */
export function sigmoid(x: number): number {
  if (x < -746) return exactly(0);
  if (x > 64) return exactly(1);
  const u = expPair(-Math.abs(x), 0);
  const uLow = LOW[0]!;
  const divisor = add(1, 0, u, uLow);
  return x < 0 ? div(u, uLow, divisor, LOW[0]!) : div(1, 0, divisor, LOW[0]!);
}

/** The estimate in {@link LOW} and `high`, with the sign of x. */
export function withSign(x: number, high: number): number {
  if (x >= 0) return high;
  LOW[0] = -LOW[0]!;
  return -high;
}

/** E/(E + 2) with E = e^(2|x|) - 1: off by less than 2^-87. */
export function tanh(x: number): number {
  const magnitude = Math.abs(x);
  if (magnitude > 32) return exactly(x > 0 ? 1 : -1);
  if (!(magnitude > TINY)) return NaN;
  const e = expm1Pair(2 * magnitude, 0);
  const eLow = LOW[0]!;
  const divisor = add(e, eLow, 2, 0);
  return withSign(x, div(e, eLow, divisor, LOW[0]!));
}

/** (E + E/(E + 1))/2 with E = e^|x| - 1: off by less than 2^-87. */
export function sinh(x: number): number {
  const magnitude = Math.abs(x);
  if (!(magnitude > TINY && magnitude < MAX)) return NaN;
  const e = expm1Pair(magnitude, 0);
  const eLow = LOW[0]!;
  const divisor = add(e, eLow, 1, 0);
  const quotient = div(e, eLow, divisor, LOW[0]!);
  return withSign(x, halved(e, eLow, quotient, LOW[0]!));
}

/** (E + 1 + 1/(E + 1))/2 with E = e^|x| - 1: off by less than 2^-87. */
export function cosh(x: number): number {
  const magnitude = Math.abs(x);
  if (!(magnitude > TINY && magnitude < MAX)) return NaN;
  const e = expm1Pair(magnitude, 0);
  const y = add(e, LOW[0]!, 1, 0);
  const yLow = LOW[0]!;
  return halved(y, yLow, div(1, 0, y, yLow), LOW[0]!);
}

/** Half the sum; halves are added, which cannot overflow. */
const halved = (aHigh: number, aLow: number, bHigh: number, bLow: number): number =>
  add(0.5 * aHigh, 0.5 * aLow, 0.5 * bHigh, 0.5 * bLow);
