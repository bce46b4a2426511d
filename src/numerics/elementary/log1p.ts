import type { Word } from "../dtype.ts";
import { roundEnclosure } from "./enclosure.ts";
import { logPositive } from "./logCore.ts";
import { decode, FLOAT32_ARITHMETIC, INFINITY_, NAN, NEG_INFINITY, ONE } from "../float32.ts";

const BITS_OF_2_TO_MINUS_25 = 0x33000000n;

/**
 * log(1 + x), correctly rounded: -Inf at -1, NaN below -1, Inf at Inf.
 *
 * Below 2^-25, |log1p(x)/x - 1| < 2^-25.9 is less than half an ulp: the result is x. Otherwise 1 + x is an integer
 * below 2^125 times a power of two, exactly, up to 2^124; beyond, the 1 is dropped, which changes the logarithm (above
 * 85) by less than 2^-123. Relative error before rounding: 2^-121.
 */
export function log1p(x: Word, float = FLOAT32_ARITHMETIC): Word {
  const magnitude = x & 0x7fffffffn;
  if (magnitude > INFINITY_) return NAN;
  if (magnitude < BITS_OF_2_TO_MINUS_25) return magnitude === 0n ? 0n : x;
  const { negative, mantissa, exponent } = decode(x);
  if (negative && magnitude >= ONE) return magnitude === ONE ? NEG_INFINITY : NAN;
  if (magnitude === INFINITY_) return INFINITY_;
  const result = onePlus(negative, mantissa, exponent);
  const log = logPositive(result.mantissa, result.exponent);
  return roundEnclosure(float, log.negative, log.mantissa, log.exponent);
}

/** 1 +- mantissa * 2^exponent. */
function onePlus(negative: boolean, mantissa: bigint, exponent: number): { mantissa: bigint; exponent: number } {
  if (exponent > 100) return { mantissa, exponent };
  if (exponent >= 0) return { mantissa: (mantissa << BigInt(exponent)) + 1n, exponent: 0 };
  const one = 1n << BigInt(-exponent);
  return { mantissa: negative ? one - mantissa : one + mantissa, exponent };
}
