import type { Code } from "../assembler/encoding.ts";
import { f64x2, i32, i32x4, v128 } from "../assembler/instructions.ts";
import { both } from "./pool.ts";

/** The function under construction. */
export type Builder = {
  /** Computes a value once, to be used many times. */
  keep: (code: Code) => Code;
};

/** Code that estimates a function for a pair of float64; its operands are locals. */
export type Estimate = (builder: Builder, ...x: Code[]) => Code;

/** c0 + x (c1 + x (c2 + ...)). */
export const horner = (x: Code, coefficients: readonly number[]): Code =>
  coefficients
    .slice(0, -1)
    .reduceRight<Code>((sum, c) => f64x2.add(both(c), f64x2.mul(x, sum)), both(coefficients.at(-1)!));

/** `a` where the condition holds, else `b`. */
export const choose = (condition: Code, a: Code, b: Code): Code => v128.bitselect(a, b, condition);

const SIGN = both(-0);
/** |a| with the sign of s, for a >= 0. */
export const withSign = (a: Code, s: Code): Code => v128.or(a, v128.and(s, SIGN));

/** Adding this to numbers below 2^51 in magnitude rounds them to integers, half to even, and leaves those in the lower bits, in two's complement. */
export const ROUNDER = both(1.5 * 2 ** 52);

/**
 * Two float64 of a table by the lower words of a vector's 64-bit lanes.
 * @param table The address of entry 0; `stride` in bytes.
 */
export function lookUp(table: number, index: Code, stride = 8): Code {
  const address = (word: number): Code => i32.mul(i32x4.extract(index, word), i32.const(stride));
  return v128.load64High(address(2), v128.load64Zero(address(0), table), table);
}

const LOWER_HALVES = [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23];
const UPPER_HALVES = [8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31];

/** The same for two float64 that lie side by side in an entry. */
export function lookUpTwo(builder: Builder, table: number, index: Code, stride: number): [first: Code, second: Code] {
  const entry = (word: number): Code =>
    builder.keep(v128.load(i32.mul(i32x4.extract(index, word), i32.const(stride)), table));
  const [low, high] = [entry(0), entry(2)];
  return [v128.shuffle(low, high, LOWER_HALVES), v128.shuffle(low, high, UPPER_HALVES)];
}

/** 1/n!. */
export function inverseFactorial(n: number): number {
  let factorial = 1;
  for (let k = 2; k <= n; k++) factorial *= k;
  return 1 / factorial;
}
