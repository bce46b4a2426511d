import { logPositive } from "../../elementary64/logCore.ts";
import { ARGUMENT_FRACTION, LN2 } from "../../elementary64/wide.ts";
import { inverses, onFirstUse, pairsOf } from "./constants.ts";
import { add, div, LOW, mul, polynomial, powerOfTwo, productOf, root, sumOf } from "./doubleDouble.ts";
import { expPair, TINY, withSign } from "./exponential.ts";

/** 1/c for 128 parts of 1 .. 2, with 9 bits; those next to 1 and 2 are 1 and 1/2. */
const STEPS = 128;
const INVERSES = Float64Array.from({ length: STEPS }, (_, j) => Math.round(512 / (1 + (j + 0.5) / STEPS)) / 512);
INVERSES[0] = 1;
INVERSES[STEPS - 1] = 0.5;

/** -log of them. */
const logsOf = onFirstUse(() => {
  const logs = pairsOf(Array.from(INVERSES, (inverse) => logPositive(BigInt(inverse * 512), -9)));
  // The exponent has it.
  logs.high[STEPS - 1] = 0;
  logs.low[STEPS - 1] = 0;
  return logs;
});
const LN2_PAIR = pairsOf([{ mantissa: LN2, exponent: -ARGUMENT_FRACTION }]);

/** 1, -1/2, 1/3, ..., 1/15. */
const SERIES = inverses(1, 15);

/** From z^7/8 of 1 on. */
const PLAIN = 7;

/**
 * log(1 + z) for |z| < 2^-6.4: off by less than 2^-95 of it. z times a series, cut after z^14/15 (the rest is below
 * 2^-99 of 1); from z^7/8 on (2^-47) it is plain: 2^-97.
 */
function series(high: number, low: number): number {
  const sum = polynomial(high, low, SERIES, PLAIN);
  return mul(sum, LOW[0]!, high, low);
}

const scratch = new Float64Array(1);
const words = new Uint32Array(scratch.buffer);

/**
 * log x for x = high + low, normal and positive: off by less than 2^-93 of it.
 *
 * x = 2^k m, m in 1 .. 2; m times a c next to 1/m is 1 + z exactly (c has 9 bits) up to the low parts, |z| < 2^-6.4.
 * Next to 1, m c is m or m/2, so that log x = log(1 + z). Otherwise |log x| > 2^-8, and the sums cost less than 2^-101.
 */
function logPair(high: number, low: number): number {
  scratch[0] = high;
  let k = (words[1]! >>> 20) - 1023;
  const j = (words[1]! >>> 13) & (STEPS - 1);
  words[1] = (words[1]! & 0xfffff) | (1023 << 20);
  const m = scratch[0];
  const inverse = INVERSES[j]!;
  const product = productOf(m, inverse);
  // The product is next to 1: the difference is exact.
  const z = add(product - 1, LOW[0]!, low * powerOfTwo(-k) * inverse, 0);
  const own = series(z, LOW[0]!);
  const ownLow = LOW[0]!;
  if (j === STEPS - 1) k++;
  if (k === 0 && (j === 0 || j === STEPS - 1)) return own;
  const scaled = mul(LN2_PAIR.high[0]!, LN2_PAIR.low[0]!, k, 0);
  const logs = logsOf();
  const base = add(scaled, LOW[0]!, logs.high[j]!, logs.low[j]!);
  return add(base, LOW[0]!, own, ownLow);
}

/** log(1 + z) for z = high + low > -1: off by less than 2^-93 of it. */
function log1pPair(high: number, low: number): number {
  if (Math.abs(high) < 2 ** -7) return series(high, low);
  const sum = sumOf(1, high);
  return logPair(sum, LOW[0]! + low);
}

const MIN_NORMAL = powerOfTwo(-1022);

/** Beyond, products of the estimates below might overflow. */
const MAX = powerOfTwo(400);

/*
 * Estimates: the high part, NaN where the definition is to compute the result. The bounds are relative.
 */

/** Off by less than 2^-93. */
export const log = (x: number): number => (x >= MIN_NORMAL && x !== 1 && x < Infinity ? logPair(x, 0) : NaN);

/** Off by less than 2^-93. */
export const log1p = (x: number): number => (Math.abs(x) > TINY && x > -1 && x < MAX ? log1pPair(x, 0) : NaN);

/** log(1 + (|x| + x^2/(1 + sqrt(1 + x^2)))): off by less than 2^-92. */
export function asinh(x: number): number {
  const magnitude = Math.abs(x);
  if (!(magnitude > TINY && magnitude < MAX)) return NaN;
  const square = productOf(magnitude, magnitude);
  const squareLow = LOW[0]!;
  const sum = add(1, 0, square, squareLow);
  const leg = root(sum, LOW[0]!);
  const divisor = add(leg, LOW[0]!, 1, 0);
  const quotient = div(square, squareLow, divisor, LOW[0]!);
  const z = add(magnitude, 0, quotient, LOW[0]!);
  return withSign(x, log1pPair(z, LOW[0]!));
}

/** log(1 + (t + sqrt(t (t + 2)))), t = x - 1: off by less than 2^-92. */
export function acosh(x: number): number {
  if (!(x > 1 && x < MAX)) return NaN;
  const t = sumOf(x, -1);
  const tLow = LOW[0]!;
  const next = add(t, tLow, 2, 0);
  const square = mul(t, tLow, next, LOW[0]!);
  const leg = root(square, LOW[0]!);
  const z = add(t, tLow, leg, LOW[0]!);
  return log1pPair(z, LOW[0]!);
}

/** log(1 + 2|x|/(1 - |x|))/2: off by less than 2^-92. */
export function atanh(x: number): number {
  const magnitude = Math.abs(x);
  if (!(magnitude > TINY && magnitude < 1)) return NaN;
  const divisor = sumOf(1, -magnitude);
  const quotient = div(2 * magnitude, 0, divisor, LOW[0]!);
  const twice = log1pPair(quotient, LOW[0]!);
  LOW[0]! *= 0.5;
  return withSign(x, 0.5 * twice);
}

/**
 * x^y, a negative x only for whole y: e^(y log|x|), off by less than 2^-81. |y log x| < 2^10 is off by less than 2^-82,
 * and e to the power of it by as much, relative.
 */
export function pow(x: number, y: number): number {
  const magnitude = Math.abs(x);
  if (!(magnitude >= MIN_NORMAL && magnitude !== 1 && magnitude < Infinity && Math.abs(y) < MAX)) return NaN;
  if (x < 0 && !Number.isInteger(y)) return NaN;
  const base = logPair(magnitude, 0);
  const exponent = mul(base, LOW[0]!, y, 0);
  const result = expPair(exponent, LOW[0]!);
  return y % 2 === 0 ? result : withSign(x, result);
}
