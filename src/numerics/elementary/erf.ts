import type { Word } from "../dtype.ts";
import { roundEnclosure } from "./enclosure.ts";
import { expFixed } from "./expCore.ts";
import { FRACTION, toFixed } from "./fixed.ts";
import { decode, FLOAT32_ARITHMETIC, INFINITY_, NAN, NEG_ONE, ONE } from "../float32.ts";

/** Fraction bits of the series: the terms stay below 2^18 and w below 2^5, and the product therefore fits 256 bits. */
const SERIES_FRACTION = 112;
/** 2/sqrt(pi) with 112 fraction bits, to the nearest. */
const TWO_OVER_SQRT_PI = 0x120dd750429b6d11ae3a914fed7fen;
const BITS_OF_4 = 0x40800000n;

/**
 * The error function, correctly rounded: +-1 at +-Inf. From 4 on, 1 - |erf x| < 2^-25: the result is +-1.
 *
 * Kummer's series, all of whose terms are positive: erf x = 2/sqrt(pi) x e^(-x^2) S,
 * S = 1 + w/3 + w^2/(3*5) + w^3/(3*5*7) + ..., w = 2x^2 < 32 (at most 100 terms until they vanish in Q112). Each term
 * cuts less than 1 unit of 2^-112, which later terms carry on in proportion: relative to S below 2^-110. In e^(-x^2)
 * S = c lies in 0.22 .. 1, so that the cuts of S 2^n (at least 0.15) and of c cost 2^-109.2 and 2^-109.8; e^(-x^2) adds
 * 2^-118 and the constant 2^-113. Relative error before rounding: below 2^-107.
 */
export function erf(x: Word, float = FLOAT32_ARITHMETIC): Word {
  const magnitude = x & 0x7fffffffn;
  if (magnitude > INFINITY_) return NAN;
  const { negative, mantissa, exponent } = decode(x);
  if (magnitude >= BITS_OF_4) return negative ? NEG_ONE : ONE;
  const square = toFixed(mantissa * mantissa, 2 * exponent);
  const power = expFixed(-square);
  const sum = kummerSeries(square >> 13n) >> BigInt(-power.exponent - FRACTION);
  const c = (sum * power.mantissa) >> 126n;
  return roundEnclosure(float, negative, c * mantissa * TWO_OVER_SQRT_PI, exponent - 2 * SERIES_FRACTION);
}

/** 1 + w/3 + w^2/(3*5) + ... for w in Q112, below 32. */
function kummerSeries(w: bigint): bigint {
  let term = 1n << 112n;
  let sum = term;
  for (let divisor = 3n << 112n; term > 0n; divisor += 2n << 112n) {
    term = (term * w) / divisor;
    sum += term;
  }
  return sum;
}
