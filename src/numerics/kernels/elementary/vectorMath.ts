import type { Code } from "../assembler/encoding.ts";
import { v128 as vector } from "../assembler/instructions.ts";
import { all } from "./pool.ts";
import { TABLES } from "./tables.ts";
import { f64x4, indices, v256, type Wide } from "./wide.ts";

/** The function under construction. */
export type Builder = {
  /** Computes a value once, to be used many times. */
  keep: (value: Wide) => Wide;
  /** The same for an address. */
  keepAddress: (code: Code) => Code;
};

/** Code that estimates a function for four float64; its operands are locals. */
export type Estimate = (builder: Builder, ...x: Wide[]) => Wide;

/** c0 + x (c1 + x (c2 + ...)); an error bound holds whether products are rounded or not. */
export function horner({ keep }: Builder, x: Wide, coefficients: readonly (number | Wide)[]): Wide {
  const values = coefficients.map((c) => (typeof c === "number" ? all(c) : c));
  return values.slice(0, -1).reduceRight((sum, c) => keep(f64x4.madd(x, sum, keep(c))), keep(values.at(-1)!));
}

/** `a` where the condition holds, else `b`. */
export const choose = (condition: Wide, a: Wide, b: Wide): Wide => v256.bitselect(a, b, condition);

const SIGN = all(-0);
/** |a| with the sign of s, for a >= 0. */
export const withSign = (a: Wide, s: Wide): Wide => v256.or(a, v256.and(s, SIGN));

/**
 * Adding this to numbers below 2^51 in magnitude rounds them to integers, half to even, and leaves those in the lower
 * bits, in two's complement.
 */
export const ROUNDER = all(1.5 * 2 ** 52);

/**
 * Loads float64 from a table, at the places that the lower words of 64-bit lanes give.
 * @param table The address of entry 0.
 * @param index In bytes.
 */
export function lookUp(table: number, index: Wide): Wide {
  const half = (n: 0 | 1): Code => {
    const [first, second] = indices(index, n);
    return vector.load64High(second, vector.load64Zero(first, table, TABLES), table, TABLES);
  };
  return [half(0), half(1)];
}

const LOWER_HALVES = [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23];
const UPPER_HALVES = [8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31];

/** The same for tables of pairs of float64: the first and the second ones of each table. */
export function lookUpPairs({ keep, keepAddress }: Builder, tables: readonly number[], index: Wide): Wide[] {
  const addresses = ([0, 1] as const).map((n) => indices(index, n).map(keepAddress) as [Code, Code]) as [
    [Code, Code],
    [Code, Code],
  ];
  return tables.flatMap((table) => {
    const entries = [0, 1].map((lane) =>
      keep([addresses[0], addresses[1]].map((of) => vector.load(of[lane]!, table, TABLES)) as unknown as Wide),
    );
    const [first, second] = entries as [Wide, Wide];
    const joined = (lanes: readonly number[]): Wide =>
      keep([vector.shuffle(first[0], second[0], lanes), vector.shuffle(first[1], second[1], lanes)]);
    return [joined(LOWER_HALVES), joined(UPPER_HALVES)];
  });
}

/** 1/n!. */
export function inverseFactorial(n: number): number {
  let factorial = 1;
  for (let k = 2; k <= n; k++) factorial *= k;
  return 1 / factorial;
}
