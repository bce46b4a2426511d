import { PI_OVER_2 } from "../../elementary64/wide.ts";
import { inverseFactorials, onFirstUse, pairsOf, partsOf, wide } from "./constants.ts";
import { add, div, LOW, mul, polynomial, sumOf, type Pairs } from "./doubleDouble.ts";
import { TINY } from "./exponential.ts";

/** Parts of a quarter turn. */
const STEPS = 32;
const STEPS_PER_UNIT = (2 * STEPS) / Math.PI;
/** pi/64. */
const [STEP_1, STEP_2, STEP_3] = partsOf(PI_OVER_2 / BigInt(STEPS), 32);
/** 1/1!, -1/3!, ... up to 13!, and 1/2!, -1/4!, ... up to 14!. */
const SIN_SERIES = inverseFactorials(1, 2, 7, true);
const COS_SERIES = inverseFactorials(2, 2, 7, true);
/** From z^4 of either on, z = r^2. */
const PLAIN = 4;
/** Sines of k pi/64, k = 0 .. 32. */
const sinesOf = onFirstUse(sines);

/** Taylor's series in Q252, whose cuts are off by less than 2^-240. */
function sines(): Pairs {
  const values = Array.from({ length: STEPS + 1 }, (_, k) => {
    const angle = (PI_OVER_2 * BigInt(k)) / BigInt(STEPS);
    let [sum, term] = [0n, angle];
    for (let n = 1n; term !== 0n && n < 200n; n += 2n) {
      sum += term;
      term = -((((term * angle) >> 252n) * angle) >> 252n) / ((n + 1n) * (n + 2n));
    }
    return wide(sum);
  });
  return pairsOf(values);
}

/** The last {@link reduce}: r, sin r, 1 - cos r, high and low parts, and the part of the turn. */
const SIN = new Float64Array(2);
const VERSINE = new Float64Array(2);
let part = 0;

/** Beyond, k has more than 21 bits. */
const MAX = 2 ** 16;
/** Near a nonzero multiple of pi/2, the reduced argument has a larger relative error below this limit. */
const MIN_REST = 2 ** -20;

/**
 * x = k pi/64 + r for |x| < 2^16, |r| < 2^-5.3: sin r and 1 - cos r.
 *
 * k has at most 21 bits, so that its products with the first two parts are exact, and so is the first difference; the
 * product with the third part and what is left of pi/64 cost 2^-99, the two sums 2^-106: r is off by less than 2^-98;
 * for k = 0 it is x. The series are cut after r^13/13! and r^14/14!; from z^4 on (2^-42 of them, over 9!) they are
 * plain: 2^-110. Sin r and 1 - cos r are off by 2^-97 then.
 * @returns Whether that suffices.
 */
function reduce(x: number): boolean {
  const k = Math.round(x * STEPS_PER_UNIT);
  let r = sumOf(x, -k * STEP_1);
  r = add(r, LOW[0]!, -k * STEP_2, 0);
  r = add(r, LOW[0]!, -k * STEP_3, 0);
  const rLow = LOW[0]!;
  if (k !== 0 && k % STEPS === 0 && Math.abs(r) < MIN_REST) return false;
  part = ((k % (4 * STEPS)) + 4 * STEPS) % (4 * STEPS);
  const square = mul(r, rLow, r, rLow);
  const squareLow = LOW[0]!;
  const sin = polynomial(square, squareLow, SIN_SERIES, PLAIN);
  SIN[0] = mul(sin, LOW[0]!, r, rLow);
  SIN[1] = LOW[0]!;
  const versine = polynomial(square, squareLow, COS_SERIES, PLAIN);
  VERSINE[0] = mul(versine, LOW[0]!, square, squareLow);
  VERSINE[1] = LOW[0]!;
  return true;
}

/**
 * sin(x + quarters pi/2) of the last {@link reduce}: S (1 - v) + C s, with S and C from the part, s and v from r. If S
 * is 0, the result is +-s: at least 2^-20 and off by 2^-97 (k = 0: off by 2^-99 of s). Else the result is at least
 * 2^-5.4.
 */
function shifted(quarters: number): number {
  const place = (part + quarters * STEPS) % (4 * STEPS);
  const sin = sineOf(place);
  const sinLow = LOW[0]!;
  const cos = sineOf((place + STEPS) % (4 * STEPS));
  const turned = mul(cos, LOW[0]!, SIN[0]!, SIN[1]!);
  if (sin === 0) return turned;
  const turnedLow = LOW[0]!;
  const drawn = mul(sin, sinLow, VERSINE[0]!, VERSINE[1]!);
  const change = add(turned, turnedLow, -drawn, -LOW[0]!);
  return add(sin, sinLow, change, LOW[0]!);
}

/** The sine of a part of the turn. */
function sineOf(place: number): number {
  const sign = place > 2 * STEPS ? -1 : 1;
  const half = place % (2 * STEPS);
  const k = half > STEPS ? 2 * STEPS - half : half;
  const { high, low } = sinesOf();
  LOW[0] = sign * low[k]!;
  return sign * high[k]!;
}

const isInRange = (x: number): boolean => Math.abs(x) > TINY && Math.abs(x) < MAX;

/*
 * Estimates: the high part, NaN where the definition is to compute the result. The bounds are relative.
 */

/** Off by less than 2^-77. */
export const sin = (x: number): number => (isInRange(x) && reduce(x) ? shifted(0) : NaN);

/** Off by less than 2^-77. */
export const cos = (x: number): number => (isInRange(x) && reduce(x) ? shifted(1) : NaN);

/** Off by less than 2^-76. */
export function tan(x: number): number {
  if (!isInRange(x) || !reduce(x)) return NaN;
  const sine = shifted(0);
  const sineLow = LOW[0]!;
  const cosine = shifted(1);
  return div(sine, sineLow, cosine, LOW[0]!);
}
