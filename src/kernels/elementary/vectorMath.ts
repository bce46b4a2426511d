import type { Code } from "../assembler/encoding.ts";
import { float64Bytes } from "../assembler/encoding.ts";
import { FunctionBuilder } from "../assembler/functionBuilder.ts";
import { f64x2, i32, i32x4, v128 } from "../assembler/instructions.ts";
import type { Callable } from "../assembler/moduleBuilder.ts";

/** The same float64 in both lanes. */
export function both(value: number): Code {
  const bytes = float64Bytes(value) as readonly number[];
  return v128.const([...bytes, ...bytes]);
}

/** A function of float64 pairs under construction. */
export type PairBuilder = {
  fn: FunctionBuilder;
  /** Computes a value once, to be used many times. */
  keep: (code: Code) => Code;
};

/** A function of `arity` pairs of float64 whose result is the code that `make` gives. */
export function pairFunction(arity: number, make: (builder: PairBuilder, ...x: Code[]) => Code): FunctionBuilder {
  const fn = new FunctionBuilder(new Array<"v128">(arity).fill("v128"), "v128");
  const keep = (code: Code): Code => {
    const local = fn.local("v128");
    fn.emit(local.set(code));
    return local.get;
  };
  const result = make({ fn, keep }, ...fn.parameters.map(({ get }) => get));
  return fn.emit(result);
}

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

/** Two float64 of a table by the lower two lanes of a vector of i32; `stride` in bytes. */
export function lookUp(table: number, index: Code, stride = 8): Code {
  const address = (lane: number): Code =>
    i32.add(i32.mul(i32x4.extract(index, lane), i32.const(stride)), i32.const(table));
  return v128.load64High(address(1), v128.load64Zero(address(0)));
}

/** 1/n!. */
export function inverseFactorial(n: number): number {
  let factorial = 1;
  for (let k = 2; k <= n; k++) factorial *= k;
  return 1 / factorial;
}

export type Pair = (...operands: Code[]) => Code;
export type { Callable };
