/** Constants and tables in float64 pairs, made from the definition's integers. */
import type { Scaled } from "../../elementary/fixed.ts";
import { FRACTION, WIDE_ONE } from "../../elementary64/wide.ts";
import { bitLength } from "../../round.ts";
import { powerOfTwo, type Pairs } from "./doubleDouble.ts";

/** `mantissa * 2^exponent` as pairs: off by less than 2^-105 of each. */
export function pairsOf(values: readonly Scaled[]): Pairs {
  const pairs = { high: new Float64Array(values.length), low: new Float64Array(values.length) };
  values.forEach(({ mantissa, exponent }, n) => {
    // Both are rounded to nearest.
    const high = Number(mantissa);
    pairs.high[n] = high * powerOfTwo(exponent);
    pairs.low[n] = Number(mantissa - BigInt(high)) * powerOfTwo(exponent);
  });
  return pairs;
}

/** A number in Q252. */
export const wide = (mantissa: bigint): Scaled => ({ mantissa, exponent: -FRACTION });

/** `numerator / denominator` of each pair of integers. */
const quotients = (values: readonly (readonly [bigint, bigint])[]): Pairs =>
  pairsOf(values.map(([numerator, denominator]) => wide((numerator * WIDE_ONE) / denominator)));

/** Returns 1/(first!), 1/((first + step)!), ..., `count` values, with alternating signs if `alternate`. */
export function inverseFactorials(first: number, step: number, count: number, alternate = false): Pairs {
  const factorial = (n: number): bigint => (n < 2 ? 1n : BigInt(n) * factorial(n - 1));
  return quotients(
    Array.from({ length: count }, (_, k) => [alternate && k % 2 === 1 ? -1n : 1n, factorial(first + step * k)]),
  );
}

/** 1/1, 1/(1 + step), ..., `count` of them, with alternating signs. */
export const inverses = (step: number, count: number): Pairs =>
  quotients(Array.from({ length: count }, (_, k) => [k % 2 === 1 ? -1n : 1n, BigInt(1 + step * k)]));

/** Splits a Q252 number into parts: two parts with `bits` bits each, then the rest in float64. */
export function partsOf(value: bigint, bits: number): readonly [number, number, number] {
  const cut = (rest: bigint): bigint => {
    const drop = BigInt(bitLength(rest) - bits);
    return (rest >> drop) << drop;
  };
  const first = cut(value);
  const second = cut(value - first);
  const number = (part: bigint): number => Number(part) * powerOfTwo(-FRACTION);
  return [number(first), number(second), number(value - first - second)];
}

/** Creates a value on first use: a table takes some milliseconds. */
export function onFirstUse<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
