import type { Word } from "../dtype.ts";
import { decode, INFINITY_, MAGNITUDE, NAN, NEG_INFINITY, ONE, SIGN } from "../float64.ts";
import { bitLength } from "../round.ts";
import { expFixed } from "./expCore.ts";
import { logPositive } from "./logCore.ts";
import { ARGUMENT_FRACTION, FRACTION, roundWide, shifted, times } from "./wide.ts";

/**
 * x^y, correctly rounded where the last rung decides (docs/numerics.md, "float64"), with the special cases of C99 Annex
 * F (read with one zero and one NaN): x^0 = 1^y = 1 even for NaN, (-1)^(+-Inf) = 1, 0^y = Inf for y < 0, a negative x
 * is allowed for integers y only.
 */
export function pow(x: Word, y: Word): Word {
  const xMagnitude = x & MAGNITUDE;
  const yMagnitude = y & MAGNITUDE;
  if (yMagnitude === 0n || x === ONE) return ONE;
  if (xMagnitude > INFINITY_ || yMagnitude > INFINITY_) return NAN;
  const yNegative = y >= SIGN;
  if (yMagnitude === INFINITY_) {
    if (xMagnitude === ONE) return ONE;
    return xMagnitude > ONE === yNegative ? 0n : INFINITY_;
  }
  if (xMagnitude === 0n) return yNegative ? INFINITY_ : 0n;
  const parity = integerParity(yMagnitude);
  const negative = x >= SIGN && parity === 1;
  if (xMagnitude === INFINITY_) {
    if (yNegative) return 0n;
    return negative ? NEG_INFINITY : INFINITY_;
  }
  if (x >= SIGN && parity === undefined) return NAN;
  return powPositive(negative, xMagnitude, yNegative, yMagnitude);
}

/** 0 for an even integer, 1 for an odd one, undefined for anything else; `magnitude` is a positive finite float64. */
function integerParity(magnitude: Word): 0 | 1 | undefined {
  const { mantissa, exponent } = decode(magnitude);
  if (exponent > 0) return 0;
  if (exponent <= -53) return undefined;
  const fractionBits = BigInt(-exponent);
  if ((mantissa & ((1n << fractionBits) - 1n)) !== 0n) return undefined;
  return ((mantissa >> fractionBits) & 1n) === 1n ? 1 : 0;
}

/**
 * x^y (negated if `negative`) for finite x, |y| > 0: e^(y log x).
 *
 * log x is known to 2^-242 relative and its product with y, of at least 241 bits, to 2^-239. |y log x| >= 2^10 over- or
 * underflows for certain; below, y log x in Q244 is off by less than 2^10 * 2^-239 + 2^-244 absolute. Relative error
 * before rounding: below 2^-228.
 */
function powPositive(negative: boolean, x: Word, yNegative: boolean, y: Word): Word {
  const base = decode(x);
  const power = decode(y);
  const log = logPositive(base.mantissa, base.exponent);
  const digits = bitLength(power.mantissa);
  const product = times(log.mantissa, power.mantissa << BigInt(FRACTION - digits));
  const exponent = log.exponent + power.exponent + digits;
  const below = log.negative !== yNegative;
  // The logarithm of 1 is 0, whatever its exponent.
  if (product !== 0n && bitLength(product) + exponent > 10) {
    if (below) return 0n;
    return negative ? NEG_INFINITY : INFINITY_;
  }
  const t = shifted(product, exponent + ARGUMENT_FRACTION);
  const result = expFixed(below ? -t : t);
  return roundWide(negative, result.mantissa, result.exponent);
}
