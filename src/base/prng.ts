/**
 * A small generator of uniform 32-bit integers (mulberry32): the same seed gives the same numbers on every machine. Not
 * for secrets.
 */
export class Prng {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Uniform in 0 .. 2^32 - 1. */
  uint32(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  /** Uniform in 0 .. bound - 1, for bound <= 2^32. */
  below(bound: number): number {
    return Math.floor((this.uint32() / 2 ** 32) * bound);
  }

  /** One element of `choices`. */
  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!;
  }

  /** Uniform in 0 .. 2^bits - 1. */
  bits(bits: number): bigint {
    let value = 0n;
    for (let have = 0; have < bits; have += 32) value = (value << 32n) | BigInt(this.uint32());
    return BigInt.asUintN(bits, value);
  }
}

/** A seed that nobody can foresee: 0 .. 2^32 - 1. */
export const freshSeed = (): number => crypto.getRandomValues(new Uint32Array(1))[0]!;
