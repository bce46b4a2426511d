/** Words of any float type: edges, and random ones near them. */
import { cast } from "../../src/numerics/cast.ts";
import { DType, floatFormat, type Word } from "../../src/numerics/dtype.ts";
import { float32Bits } from "./float32Words.ts";
import type { Prng } from "../random/prng.ts";

/** The float types besides float32. */
export const OTHER_FLOATS = [DType.float16, DType.bfloat16, DType.float64] as const;

/** Zeros, subnormals, ones, the largest, infinities, NaNs, of both signs; not canonical. */
export function edgeWords(dtype: DType): Word[] {
  const { fractionBits, sign, infinity, nan } = floatFormat(dtype);
  const unit = 1n << BigInt(fractionBits);
  const one = (infinity >> 1n) & -unit;
  const magnitudes = [0n, 1n, 2n, unit - 1n, unit, unit + 1n, one - 1n, one, one + 1n, one + unit, infinity - 1n];
  return [...magnitudes, infinity, infinity + 1n, nan, sign - 1n].flatMap((word) => [word, word | sign]);
}

/** Pairs of a type: any bits, near exponents, and edges. */
export function floatPairs(prng: Prng, dtype: DType, count: number): [Word, Word][] {
  const { bits, fractionBits, sign } = floatFormat(dtype);
  const edges = edgeWords(dtype);
  const pairs = edges.flatMap((a) => edges.map((b): [Word, Word] => [a, b]));
  while (pairs.length < count + edges.length ** 2) {
    const a = prng.bits(bits);
    const near = BigInt.asUintN(
      bits,
      a + (BigInt(prng.below(7) - 3) << BigInt(fractionBits)) + BigInt(prng.below(3) - 1),
    );
    pairs.push([a, prng.pick([prng.bits(bits), near, near ^ sign, prng.pick(edges)])]);
  }
  return pairs;
}

const EDGES = new Map(OTHER_FLOATS.map((dtype) => [dtype as DType, edgeWords(dtype)]));

/** A word of a float type, not canonical: any bits, edges, or a number of float32's usual size. */
export function floatWord(prng: Prng, dtype: DType): Word {
  if (dtype === DType.float32) return BigInt(float32Bits(prng));
  switch (prng.below(4)) {
    case 0:
      return prng.pick(EDGES.get(dtype)!);
    case 1:
      return prng.bits(floatFormat(dtype).bits);
    default:
      return cast(BigInt(float32Bits(prng)), DType.float32, dtype);
  }
}
