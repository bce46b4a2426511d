import type { Word } from "../dtype.ts";
import { decode, FLOAT64_ARITHMETIC, INFINITY_, NEG_INFINITY } from "../float64.ts";
import { powCases } from "../powCases.ts";
import { bitLength } from "../round.ts";
import { expFixed } from "./expCore.ts";
import { logPositive } from "./logCore.ts";
import { ARGUMENT_FRACTION, FRACTION, roundWide, shifted, times } from "./wide.ts";

/**
 * x^y, correctly rounded where the last rung decides (docs/numerics.md, "float64"); special cases: {@link powCases}.
 */
export function pow(x: Word, y: Word): Word {
  return powCases(FLOAT64_ARITHMETIC, x, y, powPositive);
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
