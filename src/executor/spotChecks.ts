import { freshSeed, Prng } from "../prng.ts";

/** Chooses what one thread checks of the engine's products: nobody can foresee it, and each part has the same chance. */
export class SpotChecks {
  readonly #prng: Prng;
  readonly #areAll: boolean;
  /** Of the expected number of checks, how many until the next one. */
  #left: number;

  /** @param options `areAll`: nothing is left out. */
  constructor({ areAll = false, seed = freshSeed() }: { areAll?: boolean; seed?: number } = {}) {
    this.#prng = new Prng(seed);
    this.#areAll = areAll;
    this.#left = this.#draw();
  }

  /**
   * Checks some of the parts 0 .. count - 1 of a product.
   * @param expected How many parts are checked on average; the chances of different products are independent.
   */
  run(count: number, expected: number, check: (part: number) => void): void {
    if (this.#areAll) {
      for (let part = 0; part < count; part++) check(part);
      return;
    }
    this.#left -= expected;
    while (this.#left <= 0) {
      check(this.#prng.below(count));
      this.#left += this.#draw();
    }
  }

  /** The distance between the points of a Poisson process of rate 1. */
  #draw(): number {
    return -Math.log((this.#prng.uint32() + 1) / 2 ** 32);
  }
}
