import { decode } from "../float32.ts";
import type { Word } from "../dtype.ts";
import { expFixed } from "./expCore.ts";
import { FIXED_ONE, toFixed } from "./fixed.ts";
import { logPositive } from "./logCore.ts";

/** log(1 + f / 700) in Q126, for a float32 f >= 0 below 2^64. */
function logOfHertz(hertz: Word): bigint {
  const { mantissa, exponent } = decode(hertz);
  // 700 + f over 2^shift: an integer.
  const shift = Math.max(0, -exponent);
  const sum = (700n << BigInt(shift)) + (exponent > 0 ? mantissa << BigInt(exponent) : mantissa);
  const above = logPositive(sum, -shift);
  const below = logPositive(700n, 0);
  return toFixed(above.mantissa, above.exponent) - toFixed(below.mantissa, below.exponent);
}

/**
 * Returns floor(factor * f / rate), where f is the frequency at `part / parts` of the way from low to high on the mel
 * scale (1 + f / 700 grows geometrically). A number nearer to an integer than 2^-60 counts as the integer: the same on
 * every machine.
 * @param low and `high` float32 words, 0 <= low <= high < 2^64
 */
export function melBin(low: Word, high: Word, part: number, parts: number, factor: number, rate: number): number {
  const [from, to] = [logOfHertz(low), logOfHertz(high)];
  const power = expFixed(from + ((to - from) * BigInt(part)) / BigInt(parts));
  const above = toFixed(power.mantissa, power.exponent) - FIXED_ONE;
  const bin = (700n * BigInt(factor) * above) / BigInt(rate);
  return Number((bin + (1n << 66n)) >> 126n);
}
