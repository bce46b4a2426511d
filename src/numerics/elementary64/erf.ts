import type { Word } from "../dtype.ts";
import { decode, INFINITY_, MAGNITUDE, NAN, NEG_ONE, ONE } from "../float64.ts";
import { bitLength } from "../round.ts";
import { expFixed } from "./expCore.ts";
import { ARGUMENT_FRACTION, FRACTION, roundWide, shifted, times, WIDE_ONE } from "./wide.ts";

/** 2/sqrt(pi) in Q252, to the nearest. */
export const TWO_OVER_SQRT_PI = 0x120dd750429b6d11ae3a914fed7fd8688281341d7587cea2e7342b06199cc416n;
const BITS_OF_6 = 0x4018000000000000n;
/** The sum of the series has 248 - n fraction bits, where e^(x^2) is about 2^n. */
const SUM_FRACTION = 248;

/**
 * The error function, correctly rounded: +-1 at +-Inf. From 6 on, 1 - |erf x| < 2^-55: the result is +-1.
 *
 * Kummer's series, all of whose terms are positive: erf x = 2/sqrt(pi) x e^(-x^2) S,
 * S = 1 + w/3 + w^2/(3*5) + w^3/(3*5*7) + ..., w = 2x^2 < 72. In e^(-x^2) S = c lies in 0.14 .. 1, so that the cuts of
 * S (2^-232, see kummerSum), e^(-x^2) (2^-234) and the three products cost less than 2^-231. Relative error before
 * rounding: below 2^-231.
 */
export function erf(x: Word): Word {
  const magnitude = x & MAGNITUDE;
  if (magnitude > INFINITY_) return NAN;
  if (magnitude === 0n) return 0n;
  const { negative, mantissa, exponent } = decode(x);
  if (magnitude >= BITS_OF_6) return negative ? NEG_ONE : ONE;
  const square = mantissa * mantissa;
  const bits = bitLength(square);
  const power = expFixed(-shifted(square, 2 * exponent + ARGUMENT_FRACTION));
  const n = -power.exponent - FRACTION;
  const sum = kummerSum(square << BigInt(FRACTION - bits), bits + 2 * exponent + 1, n);
  const c = times(times(power.mantissa, sum), TWO_OVER_SQRT_PI);
  const digits = bitLength(mantissa);
  return roundWide(negative, times(c, mantissa << BigInt(FRACTION - digits)), exponent + digits - SUM_FRACTION);
}

/**
 * S for w = mantissa * 2^(wExponent - 252), mantissa in 2^251 .. 2^252, with 248 - n fraction bits.
 *
 * A stored term means term * 2^(exponent - 252) with 252 significant bits. Each term is therefore off by less than
 * 2^-241 relative to the previous term (a product, and a division by less than 600 before shifting up): the 250 terms
 * that count by 2^-233 at most. Each cuts less than 1 unit of the sum's 2^(n - 248), and S is at least 0.14 2^n:
 * 2^-237. A term is below 2^(n + 2).
 */
function kummerSum(mantissa: bigint, wExponent: number, n: number): bigint {
  let [term, exponent] = [WIDE_ONE >> 1n, 1];
  let [sum, share] = [0n, 1n];
  for (let divisor = 3n; share > 0n; divisor += 2n) {
    share = shifted(term, exponent - n - FRACTION + SUM_FRACTION);
    sum += share;
    term = times(term, mantissa) / divisor;
    const up = FRACTION - bitLength(term);
    term <<= BigInt(up);
    exponent += wExponent - up;
  }
  return sum;
}
