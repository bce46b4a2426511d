import { ifElse, whileLoop } from "../assembler/control.ts";
import type { Code } from "../assembler/encoding.ts";
import { FunctionBuilder, type Local } from "../assembler/functionBuilder.ts";
import { f32, f32x4, f64, f64x2, i32, v128 } from "../assembler/instructions.ts";
import type { Callable } from "../assembler/moduleBuilder.ts";
import { relaxedMadd } from "../assembler/relaxed.ts";
import { nestOf, type Pointers, type OuterLoop } from "./outerLoops.ts";
import { roundFour, settleFour } from "./rounding.ts";

/**
 * Sums of few products, `sum over t of left[o, x + offset t] * right[o, t]`, for example depthwise convolutions over
 * planes. Lanes run along x, in which the left factor's float64 lie side by side. The right factor's float64 lie side
 * by side in t.
 */
export type WindowSpec = {
  /** The loops around, outermost first. */
  outer: readonly OuterLoop[];
  /**
   * The number of x values. If undefined, the call gives this number; else the call gives the number of values of the
   * first loop in `outer`.
   */
  length: number | undefined;
  /** Bytes from the place of x to each term's left factor. */
  offsets: readonly number[];
};

const FLOAT64 = 8;
/**
 * Vectors of two sums in a tile: with a row of weights and a term they fill the sixteen registers, and hide the latency
 * of additions.
 */
const WIDEST = 8;
/** Weights held in registers at a time. */
const MAX_WEIGHTS = 5;

type Term = { offset: number; at: number };

/**
 * Terms in the order of their places, in groups that lie side by side: neighbouring sums share the loads of a group.
 */
function groupsOf(offsets: readonly number[]): Term[][] {
  const terms = offsets.map((offset, t): Term => ({ offset, at: t * FLOAT64 })).sort((a, b) => a.offset - b.offset);
  const groups: Term[][] = [];
  for (const term of terms) {
    const last = groups.at(-1);
    const before = last?.at(-1);
    if (last === undefined || last.length === MAX_WEIGHTS || term.offset - before!.offset !== FLOAT64)
      groups.push([term]);
    else last.push(term);
  }
  return groups;
}

/**
 * `(left, right, out, list, factor, sums, sums, asked) -> list`: settles the sums selected by `asked`, out of four, by
 * their own magnitudes, or lists them.
 */
export function windowSettleFunction({ offsets }: WindowSpec): FunctionBuilder {
  const fn = new FunctionBuilder(["i32", "i32", "i32", "i32", "f64", "v128", "v128", "i32"], "i32");
  const [left, right, out, list, factor, first, second, asked] = fn.parameters as Eight;
  const [magnitudes, weight] = [[fn.local("v128"), fn.local("v128")] as const, fn.local("v128")];
  const errors = magnitudes.map((local) => f64x2.mul(local.get, f64x2.splat(factor.get))) as [Code, Code];
  return fn.emit(
    offsets.map((offset, t) => [
      weight.set(f64x2.abs(v128.load64Splat(right.get, FLOAT64 * t))),
      magnitudes.map((local, k) =>
        local.set(relaxedMadd(f64x2.abs(v128.load(left.get, offset + 16 * k)), weight.get, local.get)),
      ),
    ]),
    settleFour(
      fn,
      [first.get, second.get],
      errors,
      { out, outStep: 4, left, leftStep: FLOAT64, right, rightStep: 0 },
      asked,
      list,
    ),
    list.get,
  );
}

type Eight = [Local, Local, Local, Local, Local, Local, Local, Local];

/**
 * `(left, right, weightSums, out, list, bound, factor, count) -> list`: computes all sums of a spec, rounded to
 * float32, and lists the sums unsettled by the bound. The right factors' magnitude sums are float64, one per vector.
 * `bound` equals `factor` times the largest left magnitude; `factor` equals `errorFactor` for the number of terms.
 */
export function windowFunction(spec: WindowSpec, settle: Callable): FunctionBuilder {
  const fn = new FunctionBuilder(["i32", "i32", "i32", "i32", "i32", "f64", "f64", "i32"], "i32");
  const [list, bound, factor, count] = fn.parameters.slice(4) as [Local, Local, Local, Local];
  const sums = Array.from({ length: WIDEST }, () => fn.local("v128"));
  const weights = Array.from({ length: MAX_WEIGHTS }, () => fn.local("v128"));
  const [loaded, error, low] = [fn.local("v128"), fn.local("v128"), fn.local("v128")];
  const [bits, rest] = [fn.local("i32"), fn.local("i32")];
  const groups = groupsOf(spec.offsets);

  return fn.emit(nestOf(fn, spec.outer, spec.length === undefined ? undefined : count, rowOf), list.get);

  function rowOf(at: Pointers): Code {
    const [left, out] = [fn.local("i32"), fn.local("i32")];
    const length = spec.length;
    const here = { ...at, left, out };
    const next = (vectors: number): Code => [
      left.set(i32.add(left.get, i32.const(16 * vectors))),
      out.set(i32.add(out.get, i32.const(8 * vectors))),
      rest.set(i32.sub(rest.get, i32.const(2 * vectors))),
    ];
    const atLeast = (n: number): Code => i32.geS(rest.get, i32.const(n));
    const whole = 2 * WIDEST;
    const mayHave = (n: number): boolean => length === undefined || length % (2 * n) >= n;
    return [
      left.set(at.left.get),
      out.set(at.out.get),
      error.set(f64x2.splat(f64.mul(bound.get, f64.load(at.sums.get)))),
      rest.set(length === undefined ? count.get : i32.const(length)),
      length !== undefined && length < whole ? [] : whileLoop(atLeast(whole), tile(here, WIDEST), next(WIDEST)),
      mayHave(8) ? ifElse(atLeast(8), [tile(here, 4), next(4)]) : [],
      // The last sums are taken four at a time; fewer may exist.
      length !== undefined && length % 8 === 0
        ? []
        : whileLoop(i32.gtS(rest.get, i32.const(0)), tile(here, 2, rest), next(2)),
    ];
  }

  /** Computes this many vectors of sums. `exist` is the number of sums that exist; all if undefined. */
  function tile({ left, right, out }: Pointers, vectors: number, exist?: Local): Code {
    const begun = new Set<number>();
    const add = (k: number, term: Code, weight: Local): Code => {
      if (begun.has(k)) return sums[k]!.set(relaxedMadd(term, weight.get, sums[k]!.get));
      begun.add(k);
      return sums[k]!.set(f64x2.mul(term, weight.get));
    };
    const terms = groups.map((group): Code => {
      const uses = new Map<number, { sum: number; weight: Local }[]>();
      for (let sum = 0; sum < vectors; sum++)
        group.forEach(({ offset }, g) => {
          const place = offset + 16 * sum;
          uses.set(place, [...(uses.get(place) ?? []), { sum, weight: weights[g]! }]);
        });
      const places = [...uses].sort(([a], [b]) => a - b);
      return [
        group.map(({ at }, g) => weights[g]!.set(v128.load64Splat(right.get, at))),
        places.map(([place, used]) => {
          const [only] = used;
          if (used.length === 1) return add(only!.sum, v128.load(left.get, place), only!.weight);
          return [loaded.set(v128.load(left.get, place)), used.map((use) => add(use.sum, loaded.get, use.weight))];
        }),
      ];
    });
    const fours = Array.from({ length: vectors / 2 }, (_, q): Code => {
      const pair = [sums[2 * q]!.get, sums[2 * q + 1]!.get] as const;
      const moved = (base: Local, by: number): Code => (q === 0 ? base.get : i32.add(base.get, i32.const(by * q)));
      const asked = fn.local("i32");
      return [
        roundFour(low, bits, pair, [error.get, error.get]),
        exist === undefined ? v128.store(out.get, low.get, 16 * q) : storeSome(out, exist),
        ifElse(bits.get, [
          asked.set(exist === undefined ? bits.get : i32.and(bits.get, existing(exist))),
          list.set(settle(moved(left, 32), right.get, moved(out, 16), list.get, factor.get, ...pair, asked.get)),
        ]),
      ];
    });
    return [terms, fours];
  }

  /** Returns a bit for each existing sum, out of four; all four bits if more exist. */
  function existing(exist: Local): Code {
    return i32.sub(i32.shl(i32.const(1), exist.get), i32.const(1));
  }

  function storeSome(out: Local, exist: Local): Code {
    return ifElse(
      i32.geS(exist.get, i32.const(4)),
      v128.store(out.get, low.get),
      [0, 1, 2].map((lane) =>
        ifElse(i32.gtS(exist.get, i32.const(lane)), f32.store(out.get, f32x4.extract(low.get, lane), 4 * lane)),
      ),
    );
  }
}
