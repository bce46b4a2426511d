import { bitLength } from "../numerics/round.ts";
import type { Circuit } from "./circuit.ts";
import { CircuitRefusalError } from "./errors.ts";
import type { Fixed } from "./fixed.ts";
import { freeBits } from "./gadgets.ts";
import { addTo, constant, fromBits, minus, ONE, plus, times, ZERO, type Linear } from "./linear.ts";

/** The most numbers that a place may have. */
export const MAX_CHOICES = 1024;
/** Up to so many numbers, a selector for each takes fewer constraints than the place's bits. */
const FEW = 16;

/** The possible numbers of an integer, in increasing order, each with a selector: 1 for the integer's number. */
export type Choice = { readonly numbers: readonly bigint[]; readonly selectors: () => readonly Linear[] };

/** A choice with selectors made at the first use. */
export function choiceOf(numbers: readonly bigint[], make: () => readonly Linear[]): Choice {
  let made: readonly Linear[] | undefined;
  return { numbers, selectors: () => (made ??= make()) };
}

/** A choice among an integer's numbers. @param numbers In increasing order, with the integer among the numbers. */
export const chosen = (circuit: Circuit, integer: Linear, numbers: readonly bigint[]): Choice =>
  choiceOf(numbers, () => selectors(circuit, integer, numbers));

/** A selector for each number: 0 for all wrong numbers by constraints, and the sum of all selectors is 1. */
function selectors(circuit: Circuit, integer: Linear, numbers: readonly bigint[]): Linear[] {
  const free = numbers.slice(1).map((number) => circuit.wire((read) => (read(integer) === number ? 1n : 0n)));
  const first = free.reduce((rest, selector) => minus(rest, selector), ONE);
  const all = [first, ...free];
  if (numbers.length > 1)
    all.forEach((selector, k) => circuit.require(selector, minus(integer, constant(numbers[k]!)), ZERO));
  return all;
}

/** All numbers between an integer's bounds. @throws CircuitRefusalError for too many numbers */
export function numbersWithin({ low, high }: Fixed): bigint[] {
  if (high - low >= BigInt(MAX_CHOICES))
    throw new CircuitRefusalError(
      `a place that depends on data, from ${low} to ${high}: at most ${MAX_CHOICES} places`,
    );
  return Array.from({ length: Number(high - low) + 1 }, (_, k) => low + BigInt(k));
}

/** Products of bits, by set: product number s has the bits of s. */
type BitProducts = { readonly low: readonly Linear[]; readonly high: readonly Linear[] };

function bitProducts(circuit: Circuit, bits: readonly Linear[]): Linear[] {
  let products: Linear[] = [ONE];
  for (const bit of bits)
    products = [...products, ...products.map((one, k) => (k === 0 ? bit : circuit.product(one, bit)))];
  return products;
}

/**
 * Reads constant tables at varying places. An entry is a polynomial of the place's bits, in which each bit has the
 * power 0 or 1: products of the lower half of the bits cost constraints once for all tables.
 */
export class Tables {
  readonly #circuit: Circuit;
  readonly #products = new WeakMap<Fixed, BitProducts>();

  constructor(circuit: Circuit) {
    this.#circuit = circuit;
  }

  /**
   * The entry at a place.
   * @param place An integer from `low` to `high`.
   * @param choice The place's numbers, if known.
   * @param entry Gives an entry by its place.
   */
  read(place: Fixed, choice: Choice | undefined, entry: (number: bigint) => bigint): Linear {
    const numbers = choice?.numbers ?? numbersWithin(place);
    if (choice !== undefined || numbers.length <= FEW) {
      const entries = (choice ?? chosen(this.#circuit, place.linear, numbers)).selectors();
      const sum = new Map<number, bigint>();
      entries.forEach((selector, k) => addTo(sum, selector, entry(numbers[k]!)));
      return sum;
    }
    return this.readBits(place, (k) => entry(numbers[k] ?? numbers.at(-1)!));
  }

  /** The entry at a place, by the place's bits. @param entry By the place's distance from `low`. */
  readBits(place: Fixed, entry: (distance: number) => bigint): Linear {
    const { low, high } = this.#bits(place);
    const coefficients = Array.from({ length: low.length * high.length }, (_, k) => entry(k));
    for (let bit = 1; bit < coefficients.length; bit *= 2)
      coefficients.forEach((value, k) => {
        if ((k & bit) !== 0) coefficients[k] = value - coefficients[k - bit]!;
      });
    let sum: Linear = ZERO;
    high.forEach((product, h) => {
      const inner = new Map<number, bigint>();
      low.forEach((one, l) => addTo(inner, one, coefficients[h * low.length + l]!));
      sum = plus(sum, this.#times(product, inner));
    });
    return sum;
  }

  #times(product: Linear, inner: Linear): Linear {
    if (product === ONE) return inner;
    const isConstant = inner.size === 0 || (inner.size === 1 && inner.has(0));
    return isConstant ? times(product, inner.get(0) ?? 0n) : this.#circuit.product(product, inner);
  }

  #bits(place: Fixed): BitProducts {
    const known = this.#products.get(place);
    if (known !== undefined) return known;
    const count = bitLength(place.high - place.low);
    const distance = minus(place.linear, constant(place.low));
    const bits = freeBits(this.#circuit, count, (read) => read(distance));
    this.#circuit.require(fromBits(bits), ONE, distance);
    const half = count >> 1;
    const products = {
      low: bitProducts(this.#circuit, bits.slice(0, half)),
      high: bitProducts(this.#circuit, bits.slice(half)),
    };
    this.#products.set(place, products);
    return products;
  }
}
