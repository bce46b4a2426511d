import { whileLoop } from "./assembler/control.ts";
import type { Code } from "./assembler/encoding.ts";
import { FunctionBuilder, type Local } from "./assembler/functionBuilder.ts";
import { f64, f64x2, i32, v128 } from "./assembler/instructions.ts";
import { relaxedMadd } from "./assembler/relaxed.ts";

const BYTES = 8;
/** The number of sums taking terms in turn: no addition waits for the previous addition. */
const PAIRS = 4;

/**
 * `(vectors, inner, rows, out)`: the Euclidean norms of float64 vectors with float32 values, summed in any order.
 * Squares are exact; sums and the root are low by at most (inner + 4) 2^-53 relative. A NaN or Infinity element makes
 * the norm NaN or Infinity.
 */
export function normsFunction(): FunctionBuilder {
  const fn = new FunctionBuilder(["i32", "i32", "i32", "i32"]);
  const [at, inner, rows, out] = fn.parameters as [Local, Local, Local, Local];
  const [pairsEnd, end] = [fn.local("i32"), fn.local("i32")];
  const [x, sum] = [fn.local("v128"), fn.local("f64")];
  const sums = Array.from({ length: PAIRS }, () => fn.local("v128"));
  const next = (local: Local, by: number): Code => local.set(i32.add(local.get, i32.const(by)));
  const square = (accumulator: Local, offset: number) => [
    x.set(v128.load(at.get, offset)),
    accumulator.set(relaxedMadd(x.get, x.get, accumulator.get)),
  ];
  const zero = f64x2.splat(f64.const(0));
  return fn.emit(
    whileLoop(
      rows.get,
      sums.map((each) => each.set(zero)),
      end.set(i32.add(at.get, i32.mul(inner.get, i32.const(BYTES)))),
      pairsEnd.set(i32.add(at.get, i32.mul(i32.and(inner.get, i32.const(-2 * PAIRS)), i32.const(BYTES)))),
      whileLoop(
        i32.ltU(at.get, pairsEnd.get),
        sums.map((each, k) => square(each, 2 * BYTES * k)),
        next(at, 2 * BYTES * PAIRS),
      ),
      x.set(sums.map((each) => each.get).reduce((a, b) => f64x2.add(a, b))),
      sum.set(f64.add(f64x2.extract(x.get, 0), f64x2.extract(x.get, 1))),
      whileLoop(
        i32.ltU(at.get, end.get),
        sum.set(f64.add(sum.get, f64.mul(f64.load(at.get), f64.load(at.get)))),
        next(at, BYTES),
      ),
      f64.store(out.get, f64.sqrt(sum.get)),
      next(out, BYTES),
      next(rows, -1),
    ),
  );
}
