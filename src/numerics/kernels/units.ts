import { ifElse, whileLoop } from "./assembler/control.ts";
import type { Code } from "./assembler/encoding.ts";
import { FunctionBuilder, type Local } from "./assembler/functionBuilder.ts";
import { f64, f64x2, i32, i64, i64x2, v128 } from "./assembler/instructions.ts";

const BYTES = 8;
const MANTISSA = (1n << 52n) - 1n;
const all = (value: bigint): Code => i64x2.splat(i64.const(value));

/**
 * `(vector, n) -> unit`: the largest power of two dividing all float64 in a vector; Infinity for all zeros, NaN with
 * any nonfinite element. The values are float32's: none is subnormal.
 *
 * Clearing the lowest set bit of the mantissa changes a number by exactly the bit's value; a result of 0 means a number
 * equal to its lowest bit.
 */
export function unitFunction(): FunctionBuilder {
  const fn = new FunctionBuilder(["i32", "i32"], "f64");
  const [at, n] = fn.parameters as [Local, Local];
  const [pairsEnd, x, lowest, notFinite] = [fn.local("i32"), fn.local("v128"), fn.local("v128"), fn.local("v128")];
  const [one, mantissa, infinity, zero] = [fn.local("v128"), fn.local("v128"), fn.local("v128"), fn.local("v128")];
  const without = v128.and(x.get, i64x2.sub(x.get, one.get));
  const isPower = i64x2.eq(v128.and(x.get, mantissa.get), zero.get);
  const lowestBit = f64x2.abs(v128.bitselect(x.get, f64x2.sub(x.get, without), isPower));
  const add: Code = [
    lowest.set(f64x2.pmin(lowest.get, v128.or(lowestBit, v128.and(f64x2.eq(x.get, zero.get), infinity.get)))),
    // 0, or NaN.
    notFinite.set(f64x2.add(notFinite.get, f64x2.mul(x.get, zero.get))),
  ];
  const ends = (lane: number): Code => f64.add(f64x2.extract(lowest.get, lane), f64x2.extract(notFinite.get, lane));
  return fn.emit(
    one.set(all(1n)),
    mantissa.set(all(MANTISSA)),
    infinity.set(f64x2.splat(f64.const(Infinity))),
    lowest.set(infinity.get),
    pairsEnd.set(i32.add(at.get, i32.mul(i32.and(n.get, i32.const(-2)), i32.const(BYTES)))),
    whileLoop(
      i32.ltU(at.get, pairsEnd.get),
      x.set(v128.load(at.get)),
      add,
      at.set(i32.add(at.get, i32.const(2 * BYTES))),
    ),
    ifElse(i32.and(n.get, i32.const(1)), [x.set(v128.load64Zero(at.get)), add]),
    f64.min(ends(0), ends(1)),
  );
}
