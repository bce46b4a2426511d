import type { Prng } from "../../base/prng.ts";

/** Float32 numbers: ordinary ones, of any magnitude, small integers (whose sums are exact), or many zeros. */
const KINDS: readonly ((prng: Prng) => number)[] = [
  (prng) => prng.uint32() / 2 ** 31 - 1,
  (prng) => (2 * prng.below(2) - 1) * (1 + prng.uint32() / 2 ** 32) * 2 ** (prng.below(270) - 148),
  (prng) => prng.below(257) - 128,
  (prng) => (prng.below(3) === 0 ? prng.uint32() / 2 ** 31 - 1 : 0),
];

/** Draws numbers from a single kind for testing products: finite float32, from subnormal numbers to the largest. */
export function randomNumbers(count: number, prng: Prng): Float32Array {
  const draw = prng.pick(KINDS);
  return Float32Array.from({ length: count }, () => draw(prng));
}

/** Bytes, all equally likely. */
export const randomBytes = (count: number, prng: Prng): Uint8Array =>
  Uint8Array.from({ length: count }, () => prng.uint32());
