import { freshSeed, Prng } from "../base/prng.ts";

/** A check takes as long as its terms and so many more. */
const CALL_TERMS = 350;
/** The first of some checks in a row takes longer: nothing of it is in the processor's cache. */
const COLD_TERMS = 6_000;

/** How long a visit of some checks in a row takes, in terms of checks. */
export const visitTerms = (checks: number, termsOfEach: number): number =>
  checks * (termsOfEach + CALL_TERMS) + COLD_TERMS;

/**
 * Chooses what one thread checks of the engine's products: nobody can foresee it, and the parts of a product have the
 * same chance.
 */
export class SpotChecks {
  readonly #prng: Prng;
  readonly #areAll: boolean;
  /** The number of visits, on average, until the next one. */
  #left: number;

  /** @param options `areAll`: nothing is left out. */
  constructor({ areAll = false, seed = freshSeed() }: { areAll?: boolean; seed?: number } = {}) {
    this.#prng = new Prng(seed);
    this.#areAll = areAll;
    this.#left = this.#draw();
  }

  /**
   * Checks some of the parts 0 .. count - 1 of a product.
   * @param visits How often parts of this product are checked, on average.
   * @param size How many parts are checked in a row.
   */
  run(count: number, visits: number, size: number, check: (part: number) => void): void {
    if (this.#areAll) {
      for (let part = 0; part < count; part++) check(part);
      return;
    }
    this.#left -= visits;
    while (this.#left <= 0) {
      for (let k = 0; k < size; k++) check(this.#prng.below(count));
      this.#left += this.#draw();
    }
  }

  /** The distance between the points of a Poisson process of rate 1. */
  #draw(): number {
    return -Math.log((this.#prng.uint32() + 1) / 2 ** 32);
  }
}
