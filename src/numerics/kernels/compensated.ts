import { select, whileLoop } from "./assembler/control.ts";
import type { Code } from "./assembler/encoding.ts";
import { FunctionBuilder, type Local } from "./assembler/functionBuilder.ts";
import { f64, f64x2, i32, v128 } from "./assembler/instructions.ts";

const BYTES = 8;
const U = 2 ** -53;

/**
 * `(a, b, n) -> sum`: a dot product of float64 vectors with float32 values in about twice float64's precision. Products
 * are exact, and the rounding loss of each addition is summed separately (Ogita, Rump and Oishi, "Accurate sum and dot
 * product", 2005: Sum2 over exact terms), in four lanes, which are then added in the same way. See {@link
 * compensatedError}.
 */
export function compensatedDotFunction(): FunctionBuilder {
  const fn = new FunctionBuilder(["i32", "i32", "i32"], "f64");
  const [a, b, n] = fn.parameters as [Local, Local, Local];
  const [end, fours] = [fn.local("i32"), fn.local("i32")];
  const [sums, losses] = [
    [fn.local("v128"), fn.local("v128")],
    [fn.local("v128"), fn.local("v128")],
  ] as const;
  const [product, next, part] = [fn.local("v128"), fn.local("v128"), fn.local("v128")];
  const [sum, lost, term, total, bit] = Array.from({ length: 5 }, () => fn.local("f64")) as [
    Local,
    Local,
    Local,
    Local,
    Local,
  ];
  const advance = (by: number): Code => [a, b].map((at) => at.set(i32.add(at.get, i32.const(by))));

  /** TwoSum (Knuth): next = fl(sum + product), and the exact rounding loss. */
  const twoSum = (lane: 0 | 1): Code => [
    product.set(f64x2.mul(v128.load(a.get, 16 * lane), v128.load(b.get, 16 * lane))),
    next.set(f64x2.add(sums[lane].get, product.get)),
    part.set(f64x2.sub(next.get, sums[lane].get)),
    losses[lane].set(
      f64x2.add(
        losses[lane].get,
        f64x2.add(f64x2.sub(sums[lane].get, f64x2.sub(next.get, part.get)), f64x2.sub(product.get, part.get)),
      ),
    ),
    sums[lane].set(next.get),
  ];
  const addTerm = (value: Code): Code => [
    term.set(value),
    total.set(f64.add(sum.get, term.get)),
    bit.set(f64.sub(total.get, sum.get)),
    lost.set(f64.add(lost.get, f64.add(f64.sub(sum.get, f64.sub(total.get, bit.get)), f64.sub(term.get, bit.get)))),
    sum.set(total.get),
  ];
  const lanes = sums.flatMap((vector) => [f64x2.extract(vector.get, 0), f64x2.extract(vector.get, 1)]);
  const lostLanes = f64x2.add(losses[0].get, losses[1].get);
  return fn.emit(
    end.set(i32.add(a.get, i32.mul(n.get, i32.const(BYTES)))),
    fours.set(i32.add(a.get, i32.mul(i32.and(n.get, i32.const(-4)), i32.const(BYTES)))),
    whileLoop(i32.ltU(a.get, fours.get), twoSum(0), twoSum(1), advance(32)),
    lanes.map(addTerm),
    product.set(lostLanes),
    lost.set(f64.add(lost.get, f64.add(f64x2.extract(product.get, 0), f64x2.extract(product.get, 1)))),
    whileLoop(i32.ltU(a.get, end.get), addTerm(f64.mul(f64.load(a.get), f64.load(b.get))), advance(BYTES)),
    f64.add(sum.get, lost.get),
  );
}

/**
 * How far the exact sum may be from the compensated one: u |sum| + (K u)^2 S for K < 2^26 terms, u = 2^-53 and S at
 * least the sum of magnitudes of the products. Every partial sum, of any order, is below (1 + K u) S, so that K - 1
 * additions lose at most (K - 1) u (1 + K u) S, each part exactly known; summing those parts loses (K - 1) u of that;
 * the last addition loses u of its result. The factors 4 and 2 leave room for the ends sum +- error being rounded.
 * @returns Infinity for more terms.
 */
export function compensatedErrorCode(sum: Code, terms: Local, magnitude: Code): Code {
  const count = f64.convertI32U(terms.get);
  const relative = f64.mul(f64.mul(count, f64.const(U)), f64.mul(count, f64.const(2 * U)));
  const error = f64.add(f64.mul(f64.abs(sum), f64.const(4 * U)), f64.mul(relative, magnitude));
  return select(error, f64.const(Infinity), i32.ltU(terms.get, i32.const(2 ** 26)));
}
