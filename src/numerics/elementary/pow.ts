import type { Word } from "../dtype.ts";
import type { FloatArithmetic } from "../float.ts";
import { roundEnclosure } from "./enclosure.ts";
import { expFixed } from "./expCore.ts";
import { toFixed } from "./fixed.ts";
import { logPositive } from "./logCore.ts";
import { decode, FLOAT32_ARITHMETIC, INFINITY_, NAN, NEG_INFINITY, ONE } from "../float32.ts";
import { bitLength } from "../round.ts";

const SIGN = 0x80000000n;

/**
 * x^y, correctly rounded, with the special cases of C99 Annex F (read with one zero and one NaN): x^0 = 1^y = 1 even
 * for NaN, (-1)^(+-Inf) = 1, 0^y = Inf for y < 0, a negative x is allowed for integers y only.
 */
export function pow(x: Word, y: Word, float = FLOAT32_ARITHMETIC): Word {
  const xMagnitude = x & 0x7fffffffn;
  const yMagnitude = y & 0x7fffffffn;
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
  return powPositive(float, negative, xMagnitude, yNegative, yMagnitude);
}

/** 0 for an even integer, 1 for an odd one, undefined for anything else; `magnitude` is a positive finite float32. */
function integerParity(magnitude: Word): 0 | 1 | undefined {
  const { mantissa, exponent } = decode(magnitude);
  if (exponent > 0) return 0;
  if (exponent <= -24) return undefined;
  const fractionBits = BigInt(-exponent);
  if ((mantissa & ((1n << fractionBits) - 1n)) !== 0n) return undefined;
  return ((mantissa >> fractionBits) & 1n) === 1n ? 1 : 0;
}

/**
 * x^y (negated if `negative`) for finite x, |y| > 0: e^(y log x).
 *
 * log x is known to 2^-122 relative and its product with y is exact. |y log x| >= 2^8 over- or underflows for certain;
 * below, y log x in Q126 is off by less than 2^8 * 2^-122 + 2^-126 absolute. Relative error before rounding: below
 * 2^-113.
 */
function powPositive(float: FloatArithmetic, negative: boolean, x: Word, yNegative: boolean, y: Word): Word {
  const base = decode(x);
  const power = decode(y);
  const log = logPositive(base.mantissa, base.exponent);
  const product = log.mantissa * power.mantissa;
  const exponent = log.exponent + power.exponent;
  const below = log.negative !== yNegative;
  if (bitLength(product) + exponent > 8) {
    if (below) return 0n;
    return negative ? NEG_INFINITY : INFINITY_;
  }
  const t = toFixed(product, exponent);
  const result = expFixed(below ? -t : t);
  return roundEnclosure(float, negative, result.mantissa, result.exponent);
}
