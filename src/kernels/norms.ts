import { whileLoop } from "./assembler/control.ts";
import type { Code } from "./assembler/encoding.ts";
import { FunctionBuilder, type Local } from "./assembler/functionBuilder.ts";
import { f64, f64x2, i32, v128 } from "./assembler/instructions.ts";

const BYTES = 8;

/**
 * `(vectors, inner, rows, out)`: the Euclidean norms of float64 vectors whose values are float32's, in any order of summation: squares are exact,
 * sums and the root low by at most (inner + 4) 2^-53 relative. NaN or Infinity where an element is.
 */
export function normsFunction(): FunctionBuilder {
  const fn = new FunctionBuilder(["i32", "i32", "i32", "i32"]);
  const [at, inner, rows, out] = fn.parameters as [Local, Local, Local, Local];
  const [pairsEnd, end] = [fn.local("i32"), fn.local("i32")];
  const [even, odd, x, sum] = [fn.local("v128"), fn.local("v128"), fn.local("v128"), fn.local("f64")];
  const next = (local: Local, by: number): Code => local.set(i32.add(local.get, i32.const(by)));
  const square = (accumulator: Local, offset: number) => [
    x.set(v128.load(at.get, offset)),
    accumulator.set(f64x2.add(accumulator.get, f64x2.mul(x.get, x.get))),
  ];
  const zero = f64x2.splat(f64.const(0));
  return fn.emit(
    whileLoop(
      rows.get,
      even.set(zero),
      odd.set(zero),
      end.set(i32.add(at.get, i32.mul(inner.get, i32.const(BYTES)))),
      pairsEnd.set(i32.add(at.get, i32.mul(i32.and(inner.get, i32.const(-4)), i32.const(BYTES)))),
      whileLoop(i32.ltU(at.get, pairsEnd.get), square(even, 0), square(odd, 16), next(at, 32)),
      even.set(f64x2.add(even.get, odd.get)),
      sum.set(f64.add(f64x2.extract(even.get, 0), f64x2.extract(even.get, 1))),
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
