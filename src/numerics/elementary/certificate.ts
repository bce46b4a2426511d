import type { Word } from "../dtype.ts";

/** Float64 operations on numbers this large neither underflow nor lose bits to subnormals in the bounds below. */
const SMALLEST = 2 ** -900;
const LARGEST_ERROR = 2 ** -10;

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);

/**
 * The float32 word to which every real number within `relativeError` of a float64 estimate rounds, or undefined if they do not all round alike: then the
 * exact definition has to be asked. Subnormal results, 0 and Infinity are certified like any other.
 *
 * The two ends are computed in float64 with a margin of 2^-52 on top of the error: more than the half ulp (at most 2^-53 relative) by which rounding the sum
 * may pull an end inwards and the 2^-62 by which rounding the product may. Rounding to float32 is monotone, so equal ends settle it.
 * Fails closed: undefined for NaN, an infinite estimate, an estimate of 0 (it says nothing about what it estimates) and an error that is not in 0 .. 2^-10.
 */
export function roundsAlike(value: number, relativeError: number): Word | undefined {
  const magnitude = Math.abs(value);
  if (!(magnitude >= SMALLEST && magnitude < Infinity && relativeError >= 0 && relativeError <= LARGEST_ERROR))
    return undefined;
  const margin = magnitude * (relativeError + 2 ** -52);
  const low = Math.fround(magnitude - margin);
  if (low !== Math.fround(magnitude + margin)) return undefined;
  float[0] = low;
  const word = BigInt(bits[0]!);
  return value < 0 && word !== 0n ? word | 0x80000000n : word;
}
