import type { Scaled } from "../elementary/fixed.ts";
import { bitLength } from "../round.ts";
import { FRACTION, over, times, WIDE_ONE } from "./wide.ts";

/**
 * s + s^3/3 + s^5/5 + ... (atanh s), or with alternating signs s - s^3/3 + s^5/5 - ... (atan s), up to the term with
 * the divisor `last`, for s = p/q: integers 0 < p/q < 0.43, q <= 2^255. Relative error below 2^-249, if the omitted
 * terms are below 2^-256 of s.
 *
 * s is cut to 252 or 253 significant bits, z = s^2 < 0.185 to Q252. Each Horner step cuts less than 2 units of 2^-252,
 * damped by z, and the cuts of s and z cost less than 1 unit. The sum of 1, z/3, z^2/5, ... (at least 0.94) is
 * therefore off by less than 4 units. The last cut adds 2^-251.
 */
export function oddSeries(p: bigint, q: bigint, last: bigint, isAlternating: boolean): Scaled {
  const down = bitLength(q) - bitLength(p);
  const s = over(p << BigInt(down), q);
  const z = times(s, s) >> BigInt(2 * down);
  let sum = WIDE_ONE / last;
  for (let k = last; k > 1n;) {
    k -= 2n;
    // Like in the contract, the cut comes before the sign.
    const product = times(z, sum);
    sum = WIDE_ONE / k + (isAlternating ? -product : product);
  }
  return { mantissa: times(s, sum), exponent: -FRACTION - down };
}
