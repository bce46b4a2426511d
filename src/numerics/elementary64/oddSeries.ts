import type { Scaled } from "../elementary/fixed.ts";
import { bitLength } from "../round.ts";
import { FRACTION, over, times, WIDE_ONE } from "./wide.ts";

/**
 * s + s^3/3 + s^5/5 + ... (atanh s), or with alternating signs s - s^3/3 + s^5/5 - ... (atan s), up to the term with
 * the divisor `last`, for s = p/q: integers 0 < p/q < 0.43, q <= 2^255. Relative error below 2^-249, if the terms that
 * are left out are below 2^-256 of s.
 *
 * s is cut to 252 or 253 significant bits, z = s^2 < 0.185 to Q252. Each Horner step cuts less than 2 units of 2^-252
 * and is damped by z, and the cuts of s and z cost less than 1 unit, so that the sum of 1, z/3, z^2/5, ... (at least
 * 0.94) is off by less than 4 units. The last cut adds 2^-251.
 */
export function oddSeries(p: bigint, q: bigint, last: bigint, isAlternating: boolean): Scaled {
  const down = bitLength(q) - bitLength(p);
  const s = over(p << BigInt(down), q);
  const z = times(s, s) >> BigInt(2 * down);
  let sum = WIDE_ONE / last;
  for (let k = last; k > 1n;) {
    k -= 2n;
    // The product is cut down before its sign is applied, as the contract does.
    const product = times(z, sum);
    sum = WIDE_ONE / k + (isAlternating ? -product : product);
  }
  return { mantissa: times(s, sum), exponent: -FRACTION - down };
}
