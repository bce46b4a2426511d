import { whileLoop } from "./assembler/control.ts";
import type { Code } from "./assembler/encoding.ts";
import { FunctionBuilder, type Local } from "./assembler/functionBuilder.ts";
import { f64, f64x2, i32, v128 } from "./assembler/instructions.ts";

const BYTES = 8;
const UNROLLED = 4;

/** `(vector, n) -> largest`: the largest magnitude of n float64; NaNs are ignored. */
export function largestFunction(): FunctionBuilder {
  const fn = new FunctionBuilder(["i32", "i32"], "f64");
  const [at, n] = fn.parameters as [Local, Local];
  const max = Array.from({ length: UNROLLED }, () => fn.local("v128"));
  const [end, wholeEnd] = [fn.local("i32"), fn.local("i32")];
  const step = 2 * UNROLLED;
  const next = (by: number): Code => at.set(i32.add(at.get, i32.const(by)));
  // `pmax(a, b)` is a < b ? b : a: a NaN in the second operand is ignored.
  const take = (local: Local, value: Code): Code => local.set(f64x2.pmax(local.get, f64x2.abs(value)));
  return fn.emit(
    end.set(i32.add(at.get, i32.mul(n.get, i32.const(BYTES)))),
    wholeEnd.set(i32.add(at.get, i32.mul(i32.and(n.get, i32.const(-step)), i32.const(BYTES)))),
    whileLoop(
      i32.ltU(at.get, wholeEnd.get),
      max.map((local, k) => take(local, v128.load(at.get, 16 * k))),
      next(step * BYTES),
    ),
    whileLoop(i32.ltU(at.get, end.get), take(max[0]!, v128.load64Splat(at.get)), next(BYTES)),
    max.slice(1).map((local) => max[0]!.set(f64x2.pmax(max[0]!.get, local.get))),
    f64.max(f64x2.extract(max[0]!.get, 0), f64x2.extract(max[0]!.get, 1)),
  );
}
