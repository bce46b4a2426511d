import { atanQuotient } from "../../elementary64/arcCore.ts";
import { PI_OVER_2 } from "../../elementary64/wide.ts";
import { inverses, onFirstUse, pairsOf, wide } from "./constants.ts";
import { add, div, LOW, mul, polynomial, powerOfTwo, root, sumOf } from "./doubleDouble.ts";
import { TINY, withSign } from "./exponential.ts";

/** Parts of 0 .. 1, a power of two. */
const STEPS = 64;
/** atan(j/64). */
const anglesOf = onFirstUse(() =>
  pairsOf(Array.from({ length: STEPS + 1 }, (_, j) => atanQuotient(BigInt(j), BigInt(STEPS)))),
);
const QUARTER = pairsOf([wide(PI_OVER_2)]);
/** 1, -1/3, 1/5, ..., 1/13. */
const SERIES = inverses(2, 7);
/** From z^8/9 of 1 on. */
const PLAIN = 4;
const MAX = powerOfTwo(400);

/**
 * atan(p/q) for 0 <= p <= q, q > 0: off by less than 2^-92 of it.
 *
 * With c = j/64 next to s = p/q it is atan c + atan z, z = (s - c)/(1 + s c), |z| < 2^-6.9: for c = 0 z is s, and
 * otherwise the result is above 2^-7 and z is off by less than 2^-100. The series is cut after z^13/13 (the rest is
 * below 2^-100 of it), and plain from z^9/9 on (2^-58).
 */
function upTo1(p: number, pLow: number, q: number, qLow: number): number {
  const s = div(p, pLow, q, qLow);
  const sLow = LOW[0]!;
  const j = Math.round(s * STEPS);
  if (j === 0) return series(s, sLow);
  const c = j / STEPS;
  const above = add(s, sLow, -c, 0);
  const aboveLow = LOW[0]!;
  const product = mul(s, sLow, c, 0);
  const divisor = add(1, 0, product, LOW[0]!);
  const z = div(above, aboveLow, divisor, LOW[0]!);
  const own = series(z, LOW[0]!);
  const angles = anglesOf();
  return add(angles.high[j]!, angles.low[j]!, own, LOW[0]!);
}

function series(z: number, zLow: number): number {
  const square = mul(z, zLow, z, zLow);
  const sum = polynomial(square, LOW[0]!, SERIES, PLAIN);
  return mul(sum, LOW[0]!, z, zLow);
}

/** atan(p/q) for p, q >= 0, not both 0: off by less than 2^-92 of it. */
function angle(p: number, pLow: number, q: number, qLow: number): number {
  if (p <= q) return upTo1(p, pLow, q, qLow);
  const other = upTo1(q, qLow, p, pLow);
  return add(QUARTER.high[0]!, QUARTER.low[0]!, -other, -LOW[0]!);
}

/** sqrt(1 - x^2) for |x| < 1: off by less than 2^-99 of it. */
function otherLeg(magnitude: number): number {
  const below = sumOf(1, -magnitude);
  const belowLow = LOW[0]!;
  const above = sumOf(1, magnitude);
  const square = mul(below, belowLow, above, LOW[0]!);
  return root(square, LOW[0]!);
}

/*
 * Estimates: the high part, NaN where the definition is to compute the result. They are off by less than 2^-91,
 * relative.
 */

export function atan(x: number): number {
  const magnitude = Math.abs(x);
  if (!(magnitude > TINY && magnitude < MAX)) return NaN;
  return withSign(x, angle(magnitude, 0, 1, 0));
}

export function asin(x: number): number {
  const magnitude = Math.abs(x);
  if (!(magnitude > TINY && magnitude < 1)) return NaN;
  const leg = otherLeg(magnitude);
  return withSign(x, angle(magnitude, 0, leg, LOW[0]!));
}

export function acos(x: number): number {
  const magnitude = Math.abs(x);
  if (!(magnitude > TINY && magnitude < 1)) return NaN;
  const leg = otherLeg(magnitude);
  const acute = angle(leg, LOW[0]!, magnitude, 0);
  if (x > 0) return acute;
  return add(2 * QUARTER.high[0]!, 2 * QUARTER.low[0]!, -acute, -LOW[0]!);
}
