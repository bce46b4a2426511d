import { ifElse, whileLoop } from "./assembler/control.ts";
import type { Code } from "./assembler/encoding.ts";
import { FunctionBuilder, type Local } from "./assembler/functionBuilder.ts";
import { f32, f64, f64x2, i32, i64, v128 } from "./assembler/instructions.ts";

const FLOAT32_BYTES = 4;
const SUM_BYTES = 8;
/** Sums of integers up to this size are exact in float64, whatever the order. */
const EXACT = 2 ** 52;

/**
 * `(a, b, bStep, terms, count, out, scale, least, most)`: writes `count` sums, int64. Each of the `terms` products of
 * two float32 is multiplied by `scale`, rounded to an integer (half to even), and clamped to `least` and `most`; a NaN
 * counts 0. The factors are float32, side by side; those at `b` are `bStep` bytes apart: 4, or 0 for a single factor.
 * Sums are first added in float64. If a product might be clamped or a sum might round, the sum is added in int64.
 */
export function fixedSumsFunction(): FunctionBuilder {
  const fn = new FunctionBuilder(["i32", "i32", "i32", "i32", "i32", "i32", "f64", "f64", "f64"]);
  const [a, b, bStep, terms, count, out] = fn.parameters.slice(0, 6) as [Local, Local, Local, Local, Local, Local];
  const [scale, least, most] = fn.parameters.slice(6) as [Local, Local, Local];
  const [end, pairsEnd, last, left, right] = Array.from({ length: 5 }, () => fn.local("i32")) as Five;
  const [sum, greatest, factor, term] = Array.from({ length: 4 }, () => fn.local("v128")) as [
    Local,
    Local,
    Local,
    Local,
  ];
  const [bound, whole] = [fn.local("f64"), fn.local("f64")];
  const total = fn.local("i64");
  const next = (local: Local, by: Code): Code => local.set(i32.add(local.get, by));
  const zero = (local: Local): Code => local.set(f64x2.splat(f64.const(0)));
  const add = (first: Code, second: Code): Code => [
    term.set(f64x2.nearest(f64x2.mul(f64x2.mul(first, second), f64x2.splat(scale.get)))),
    sum.set(f64x2.add(sum.get, term.get)),
    // A NaN is passed over here, and stays in the sum.
    greatest.set(f64x2.pmax(greatest.get, f64x2.abs(term.get))),
  ];
  const two = (at: Local): Code => f64x2.promoteLowF32(v128.load64Zero(at.get));
  const one = (at: Local): Code => f64x2.promoteLowF32(v128.load32Zero(at.get));
  const pair = i32.const(2 * FLOAT32_BYTES);
  const pairs = (second: Code, ...moves: Code[]): Code =>
    whileLoop(i32.ltU(left.get, pairsEnd.get), add(two(left), second), next(left, pair), ...moves);
  const product = f64.mul(f64.promoteF32(f32.load(a.get)), f64.promoteF32(f32.load(b.get)));
  const clamped = f64.max(f64.min(f64.nearest(f64.mul(product, scale.get)), most.get), least.get);
  const lanes = (of: Local, operation: (x: Code, y: Code) => Code): Code =>
    operation(f64x2.extract(of.get, 0), f64x2.extract(of.get, 1));
  return fn.emit(
    bound.set(f64.min(f64.min(most.get, f64.neg(least.get)), f64.div(f64.const(EXACT), f64.convertI32U(terms.get)))),
    last.set(i32.add(out.get, i32.mul(count.get, i32.const(SUM_BYTES)))),
    whileLoop(
      i32.ltU(out.get, last.get),
      [zero(sum), zero(greatest)],
      [left.set(a.get), right.set(b.get)],
      end.set(i32.add(a.get, i32.mul(terms.get, i32.const(FLOAT32_BYTES)))),
      pairsEnd.set(i32.add(a.get, i32.mul(i32.and(terms.get, i32.const(-2)), i32.const(FLOAT32_BYTES)))),
      ifElse(bStep.get, pairs(two(right), next(right, pair)), [
        factor.set(f64x2.promoteLowF32(v128.load32Splat(b.get))),
        pairs(factor.get),
      ]),
      ifElse(i32.and(terms.get, i32.const(1)), add(one(left), one(right))),
      whole.set(lanes(sum, f64.add)),
      ifElse(
        i32.and(f64.le(lanes(greatest, f64.max), bound.get), f64.eq(whole.get, whole.get)),
        [total.set(i64.truncSatF64S(whole.get)), next(b, i32.mul(bStep.get, terms.get)), a.set(end.get)],
        [
          total.set(i64.const(0n)),
          whileLoop(
            i32.ltU(a.get, end.get),
            total.set(i64.add(total.get, i64.truncSatF64S(clamped))),
            next(a, i32.const(FLOAT32_BYTES)),
            next(b, bStep.get),
          ),
        ],
      ),
      i64.store(out.get, total.get),
      next(out, i32.const(SUM_BYTES)),
    ),
  );
}

type Five = [Local, Local, Local, Local, Local];
