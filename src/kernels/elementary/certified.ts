import { ifElse } from "../assembler/control.ts";
import type { Code } from "../assembler/encoding.ts";
import { FunctionBuilder, type Local } from "../assembler/functionBuilder.ts";
import { f32x4, f64x2, i32, i32x4, v128 } from "../assembler/instructions.ts";
import type { Callable } from "../assembler/moduleBuilder.ts";
import { both } from "./pool.ts";
import { type Estimate } from "./vectorMath.ts";

/**
 * The relative error that every estimate stays below, as is proven where it is computed. Such proofs count relative errors in u = 2^-53, one for each rounded
 * operation, and leave out products of errors: at most a few hundred u squared, below 2^-90.
 */
export const BOUND = 2 ** -44;
/** That of powers. */
export const POWER_BOUND = 2 ** -42;

/** An estimate that never settles anything: halfway between two float32. */
export const UNKNOWN = 1 + 2 ** -24;

const UPPER_HALF = [8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15];
const LOW_HALVES = [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23];

/**
 * A function of four float32, from its estimate in float64: results are what both ends of the estimate's error round to; where they do not agree, `exact` is asked.
 *
 * The ends are v (1 -+ (bound + 2^-51)): the factors are exact, their products are rounded, which may pull an end inwards by 2^-53 relative. Rounding
 * to float32 is monotone, so equal ends settle the result: subnormal ones, 0 and infinities too. An estimate must be 0, infinite or NaN only where the exact
 * value rounds to that.
 */
export function certifiedFunction(estimate: Estimate, exact: Callable, arity: number, bound: number): FunctionBuilder {
  const fn = new FunctionBuilder(new Array<"v128">(arity).fill("v128"), "v128");
  const [low, flags] = [fn.local("v128"), fn.local("i32")];
  const halves = [fn.local("v128"), fn.local("v128")] as const;
  const high = (x: Code): Code => v128.shuffle(x, x, UPPER_HALF);
  const estimated = (half: Local, part: (x: Code) => Code): Code => {
    const statements: Code[] = [];
    const keep = (code: Code): Code => {
      const local = fn.local("v128");
      statements.push(local.set(code));
      return local.get;
    };
    const operands = fn.parameters.map(({ get }) => keep(f64x2.promoteLowF32(part(get))));
    const result = estimate({ keep }, ...operands);
    return [statements, half.set(result)];
  };
  const ends = (factor: number): Code => {
    const [first, second] = halves.map(({ get }) => f32x4.demoteZeroF64(f64x2.mul(get, both(factor)))) as [Code, Code];
    return v128.shuffle(first, second, LOW_HALVES);
  };
  const width = bound + 2 ** -51;
  const differ = v128.and(f32x4.ne(low.get, ends(1 + width)), f32x4.eq(low.get, low.get));
  return fn.emit(
    estimated(halves[0], (x) => x),
    estimated(halves[1], high),
    low.set(ends(1 - width)),
    flags.set(i32x4.bitmask(differ)),
    ifElse(
      flags.get,
      [0, 1, 2, 3].map((lane) =>
        ifElse(
          i32.and(flags.get, i32.const(1 << lane)),
          low.set(f32x4.replace(low.get, lane, exact(...fn.parameters.map(({ get }) => f32x4.extract(get, lane))))),
        ),
      ),
    ),
    low.get,
  );
}
