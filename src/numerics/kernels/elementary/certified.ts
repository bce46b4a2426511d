import { ifElse } from "../assembler/control.ts";
import type { Code } from "../assembler/encoding.ts";
import { FunctionBuilder } from "../assembler/functionBuilder.ts";
import { f32x4, f64x2 as floats, i32, i32x4, v128 } from "../assembler/instructions.ts";
import type { Callable } from "../assembler/moduleBuilder.ts";
import { all } from "./pool.ts";
import type { Estimate } from "./vectorMath.ts";
import { f64x4, type Wide } from "./wide.ts";

/**
 * The proven bound on every estimate's relative error; each proof stands beside the estimate's code. The proofs count
 * relative errors in u = 2^-53, one for each rounded operation, and omit products of errors: at most a few hundred u
 * squared, below 2^-90.
 */
export const BOUND = 2 ** -44;
/** The same for powers. */
export const POWER_BOUND = 2 ** -42;

/** An estimate that never settles anything: halfway between two float32. */
export const UNKNOWN = 1 + 2 ** -24;

const UPPER_HALF = [8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15];
const LOW_HALVES = [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23];

/** An estimate with a proven bound on its relative error. */
export type BoundedEstimate = { estimate: Estimate; bound: number };

/** Makes a local of a value, to be used many times. */
type KeepOne = (type: "v128" | "i32", code: Code) => Code;

/** Code that estimates a function for vectors of four float32, used more than once. */
export function wideEstimate(estimate: Estimate, keepOne: KeepOne, operands: readonly Code[]): Wide {
  const keep = keeping(keepOne);
  const wide = operands.map((code) =>
    keep([floats.promoteLowF32(code), floats.promoteLowF32(v128.shuffle(code, code, UPPER_HALF))]),
  );
  return keep(estimate({ keep, keepAddress: (code) => keepOne("i32", code) }, ...wide));
}

const keeping =
  (keepOne: KeepOne) =>
  ([first, second]: Wide): Wide => {
    const kept = keepOne("v128", first);
    return [kept, first === second ? kept : keepOne("v128", second)];
  };

/** Returns the factors for both ends of the interval that an estimate with the given bound stands for. */
export const endFactors = (bound: number): readonly [min: number, max: number] => {
  const width = bound + 2 ** -51;
  return [1 - width, 1 + width];
};

/**
 * Returns both ends of an estimate's error interval rounded to float32, for four float32: equal ends are the result.
 *
 * The ends are v (1 -+ (bound + 2^-51)): the factors are exact, and their products are rounded, which may pull an end
 * inwards by 2^-53 relative. Rounding to float32 is monotone, and equal ends therefore settle the result: including
 * subnormal results, 0 and infinities. An estimate may be 0, infinite or NaN only if the exact value rounds to the
 * same.
 * @param operands Vectors of four float32, used more than once.
 */
export function roundedEnds(
  { estimate, bound }: BoundedEstimate,
  keepOne: KeepOne,
  operands: readonly Code[],
): readonly [min: Code, max: Code] {
  const value = wideEstimate(estimate, keepOne, operands);
  const keep = keeping(keepOne);
  const end = (factor: number): Code => {
    const [first, second] = f64x4.mul(value, keep(all(factor)));
    return v128.shuffle(f32x4.demoteZeroF64(first), f32x4.demoteZeroF64(second), LOW_HALVES);
  };
  const [min, max] = endFactors(bound);
  return [end(min), end(max)];
}

/**
 * Builds a function on four float32 from an estimate. The function calls `exact` for results that the estimate does not
 * settle.
 */
export function certifiedFunction(estimate: BoundedEstimate, exact: Callable, arity: number): FunctionBuilder {
  const fn = new FunctionBuilder(new Array<"v128">(arity).fill("v128"), "v128");
  const [low, differ, flags] = [fn.local("v128"), fn.local("v128"), fn.local("i32")];
  const statements: Code[] = [];
  const keepOne = (type: "v128" | "i32", code: Code): Code => {
    const local = fn.local(type);
    statements.push(local.set(code));
    return local.get;
  };
  const operands = fn.parameters.map(({ get }) => get);
  const [min, max] = roundedEnds(estimate, keepOne, operands);
  return fn.emit(
    statements,
    low.set(min),
    differ.set(f32x4.ne(low.get, max)),
    // NaNs are settled.
    ifElse(v128.anyTrue(differ.get), flags.set(i32x4.bitmask(v128.and(differ.get, f32x4.eq(low.get, low.get))))),
    ifElse(
      flags.get,
      [0, 1, 2, 3].map((lane) =>
        ifElse(
          i32.and(flags.get, i32.const(1 << lane)),
          low.set(f32x4.replace(low.get, lane, exact(...operands.map((code) => f32x4.extract(code, lane))))),
        ),
      ),
    ),
    low.get,
  );
}
