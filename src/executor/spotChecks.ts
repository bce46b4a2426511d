import { freshSeed, Prng } from "../base/prng.ts";

/** The fixed cost of a check in terms, added to its own terms. */
const CALL_TERMS = 350;
/** The first of some checks in a row takes longer: nothing of it is in the processor's cache. */
const COLD_TERMS = 6_000;

/** How long a visit of some checks in a row takes, in terms of checks. */
export const visitTerms = (checks: number, termsOfEach: number): number =>
  checks * (termsOfEach + CALL_TERMS) + COLD_TERMS;

/**
 * Chooses the engine products that one thread checks. Nobody can foresee the choice, and all parts of a product have
 * the same chance.
 */
export class SpotChecks {
  readonly #prng: Prng;
  readonly #areAll: boolean;
  /** The average number of visits until the next check. */
  #left: number;

  /** @param options `areAll`: nothing is left out. */
  constructor({ areAll = false, seed = freshSeed() }: { areAll?: boolean; seed?: number } = {}) {
    this.#prng = new Prng(seed);
    this.#areAll = areAll;
    this.#left = this.#draw();
  }

  /**
   * Checks some of a product's parts 0 .. count - 1.
   * @param visits The product's average number of part checks.
   * @param size The number of parts checked in a row.
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

  /** Draws the distance between points in a Poisson process of rate 1. */
  #draw(): number {
    return -Math.log((this.#prng.uint32() + 1) / 2 ** 32);
  }
}
