import type { Word } from "../dtype.ts";
import type { FloatArithmetic } from "../float.ts";
import { roundEnclosure } from "./enclosure.ts";
import { expFixed } from "./expCore.ts";
import { toFixed } from "./fixed.ts";
import { logPositive } from "./logCore.ts";
import { decode, FLOAT32_ARITHMETIC, INFINITY_, NEG_INFINITY } from "../float32.ts";
import { powCases } from "../powCases.ts";
import { bitLength } from "../round.ts";

/** x^y of float32, correctly rounded to a format; special cases: {@link powCases}. */
export function pow(x: Word, y: Word, float = FLOAT32_ARITHMETIC): Word {
  return powCases(FLOAT32_ARITHMETIC, x, y, (...of) => powPositive(float, ...of));
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
