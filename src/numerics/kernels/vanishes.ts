import { ifElse, returned, whileLoop } from "./assembler/control.ts";
import type { Code } from "./assembler/encoding.ts";
import { FunctionBuilder, type Local } from "./assembler/functionBuilder.ts";
import { f64, f64x2, i32, v128 } from "./assembler/instructions.ts";

const BYTES = 8;

/**
 * `(a, b, n) -> 1 or 0`: whether all products of two float64 vectors are zeros. The values are float32's: no product of
 * nonzero numbers underflows. Infinity times zero gives NaN, and NaN does not count as zero.
 */
export function vanishesFunction(): FunctionBuilder {
  const fn = new FunctionBuilder(["i32", "i32", "i32"], "i32");
  const [a, b, n] = fn.parameters as [Local, Local, Local];
  const [end, fours, zero] = [fn.local("i32"), fn.local("i32"), fn.local("v128")];
  const advance = (by: number): Code => [a, b].map((at) => at.set(i32.add(at.get, i32.const(by))));
  const isNot = (offset: number): Code =>
    f64x2.ne(f64x2.mul(v128.load(a.get, offset), v128.load(b.get, offset)), zero.get);
  const no = returned(i32.const(0));
  return fn.emit(
    end.set(i32.add(a.get, i32.mul(n.get, i32.const(BYTES)))),
    fours.set(i32.add(a.get, i32.mul(i32.and(n.get, i32.const(-4)), i32.const(BYTES)))),
    zero.set(f64x2.splat(f64.const(0))),
    whileLoop(i32.ltU(a.get, fours.get), ifElse(v128.anyTrue(v128.or(isNot(0), isNot(16))), no), advance(32)),
    whileLoop(
      i32.ltU(a.get, end.get),
      ifElse(f64.ne(f64.mul(f64.load(a.get), f64.load(b.get)), f64.const(0)), no),
      advance(BYTES),
    ),
    i32.const(1),
  );
}
