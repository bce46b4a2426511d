import { ifElse, returned, select, whileLoop } from "./assembler/control.ts";
import type { Code } from "./assembler/encoding.ts";
import { FunctionBuilder, type Local } from "./assembler/functionBuilder.ts";
import { f32, f32x4, f64, f64x2, i32, i32x4, v128 } from "./assembler/instructions.ts";
import type { Callable } from "./assembler/moduleBuilder.ts";
import { compensatedErrorCode } from "./compensated.ts";

/**
 * Products of two float32 are exact in float64. In any order of addition, the sum of K products is off by at most (K -
 * 1) u S, with u = 2^-53 and S the sum of their magnitudes (Jeannerod and Rump, 2013). Three more u S cover the
 * rounding of the ends value +- error. The factor 1 + 2^-20 covers computing S (or the norms that bound S by
 * Cauchy-Schwarz) in float64 itself. If two ends round to the same float32, all numbers between them do too. NaN and
 * Infinity make the ends unequal: the element is flagged.
 */
export const SLACK = 1 + 2 ** -20;

/** Returns the factor that turns a sum of magnitudes into an error bound for a sum with this many terms. */
export const errorFactor = (terms: number): number => (terms + 2) * 2 ** -53 * SLACK;

const next = (local: Local, by: number): Code => local.set(i32.add(local.get, i32.const(by)));
/** The first two float32 of two vectors. */
const LOW_HALVES = [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23];

/**
 * `(values, rowNorms, columnNorms, out, rows, columns, factor, flagged) -> count`: rounds float64 sums [rows, columns]
 * to float32, whatever their error may be, and lists the indices (u32) of those that the error bound
 * factor * rowNorm * columnNorm does not settle. Zeros become +0. Flagged results mean nothing.
 */
export function certifyFunction(): FunctionBuilder {
  const fn = new FunctionBuilder(["i32", "i32", "i32", "i32", "i32", "i32", "f64", "i32"], "i32");
  const [value, rowNorm, columnNorms, out, rows, columns, factor, flagged] = fn.parameters as Eight;
  const [column, left, count, index, bits] = Array.from({ length: 5 }, () => fn.local("i32")) as Five;
  const [scale, low] = [fn.local("v128"), fn.local("v128")];
  const [error, x, rounded, scalarScale] = [fn.local("v128"), fn.local("f64"), fn.local("f32"), fn.local("f64")];
  const half = (offset: number, operation: typeof f64x2.add): Code =>
    f32x4.demoteZeroF64(operation(v128.load(value.get, offset), error.get));
  const ends = [fn.local("v128"), fn.local("v128"), fn.local("v128"), fn.local("v128")] as const;
  const pair = (n: 0 | 1): Code => [
    error.set(f64x2.mul(scale.get, v128.load(column.get, 16 * n))),
    ends[n].set(half(16 * n, f64x2.sub)),
    ends[(2 + n) as 2 | 3].set(half(16 * n, f64x2.add)),
  ];
  const flag = (at: Code): Code => [i32.store(flagged.get, at), next(flagged, 4), next(count, 1)];
  const zeros = f32x4.splat(f32.const(0));
  const four = [
    pair(0),
    pair(1),
    low.set(v128.shuffle(ends[0].get, ends[1].get, LOW_HALVES)),
    v128.store(out.get, f32x4.add(low.get, zeros)),
    bits.set(i32x4.bitmask(f32x4.ne(low.get, v128.shuffle(ends[2].get, ends[3].get, LOW_HALVES)))),
    ifElse(
      bits.get,
      [0, 1, 2, 3].map((lane) =>
        ifElse(i32.and(bits.get, i32.const(1 << lane)), flag(i32.add(index.get, i32.const(lane)))),
      ),
    ),
    next(value, 32),
    next(column, 32),
    next(out, 16),
    next(index, 4),
    next(left, -4),
  ];
  const scalarError = f64.mul(scalarScale.get, f64.load(column.get));
  const one = [
    x.set(f64.load(value.get)),
    rounded.set(f32.demoteF64(f64.sub(x.get, scalarError))),
    f32.store(out.get, f32.add(rounded.get, f32.const(0))),
    ifElse(f32.ne(rounded.get, f32.demoteF64(f64.add(x.get, scalarError))), flag(index.get)),
    next(value, 8),
    next(column, 8),
    next(out, 4),
    next(index, 1),
    next(left, -1),
  ];
  return fn.emit(
    whileLoop(
      rows.get,
      scalarScale.set(f64.mul(factor.get, f64.load(rowNorm.get))),
      scale.set(f64x2.splat(scalarScale.get)),
      column.set(columnNorms.get),
      left.set(columns.get),
      whileLoop(i32.geU(left.get, i32.const(4)), four),
      whileLoop(left.get, one),
      next(rowNorm, 8),
      next(rows, -1),
    ),
    count.get,
  );
}

type Five = [Local, Local, Local, Local, Local];
type Eight = [Local, Local, Local, Local, Local, Local, Local, Local];

/** Checking this many elements per vector usually suffices to show that sums may have been rounded. */
const MAX_PROBED = 16;

/** Byte offsets of the four u32 element counts, by the method that settled the elements. */
const STAT = { ties: 0, compensated: 4, exact: 8, patched: 12 } as const;

/**
 * `(row, column, n, value, magnitude, rowUnit, columnUnit, scratch, stats) -> bits`: settles one flagged dot product by
 * its units if no partial sum can have been rounded, else by a compensated sum, else in integers. The units' addresses
 * hold 0 until the units are known. If all products are zeros (frequent after a Relu), nothing was rounded either: no
 * error bound settles the sum, and integers would take long.
 */
export function settleOneFunction(
  unit: Callable,
  vanishes: Callable,
  compensatedDot: Callable,
  exactDot: Callable,
): FunctionBuilder {
  const fn = new FunctionBuilder(["i32", "i32", "i32", "f64", "f64", "i32", "i32", "i32", "i32"], "i32");
  const [row, column, n, value, magnitude, rowUnit, columnUnit] = fn.parameters as Eight;
  const [scratch, stats] = fn.parameters.slice(7) as [Local, Local];
  const [speculated, low, result, error, sum] = [
    fn.local("f32"),
    fn.local("f32"),
    fn.local("i32"),
    fn.local("f64"),
    fn.local("f64"),
  ];
  const known = (at: Local, vector: Local): Code =>
    ifElse(f64.eq(f64.load(at.get), f64.const(0)), f64.store(at.get, unit(vector.get, n.get)));
  const counted = (stat: keyof typeof STAT): Code =>
    i32.store(stats.get, i32.add(i32.load(stats.get, STAT[stat]), i32.const(1)), STAT[stat]);
  // All partial sums are multiples of the product of units, and below 2^53 units: exact, in any order.
  const isExact = (rowUnit: Code, columnUnit: Code): Code =>
    f64.lt(magnitude.get, f64.mul(f64.mul(rowUnit, columnUnit), f64.const(2 ** 53)));
  // A few elements have at least the unit of all elements.
  const few = fn.local("i32");
  const mayBeExact = isExact(unit(row.get, few.get), unit(column.get, few.get));
  const bitsOf = (rounded: Code): Code => i32.reinterpretF32(f32.add(rounded, f32.const(0)));
  return fn.emit(
    ifElse(f64.eq(value.get, f64.const(0)), [
      ifElse(vanishes(row.get, column.get, n.get), [counted("ties"), returned(i32.const(0))]),
    ]),
    few.set(select(n.get, i32.const(MAX_PROBED), i32.ltU(n.get, i32.const(MAX_PROBED)))),
    magnitude.set(f64.mul(magnitude.get, f64.const(SLACK))),
    speculated.set(f32.demoteF64(value.get)),
    ifElse(mayBeExact, [
      known(rowUnit, row),
      known(columnUnit, column),
      ifElse(isExact(f64.load(rowUnit.get), f64.load(columnUnit.get)), [
        counted("ties"),
        returned(bitsOf(speculated.get)),
      ]),
    ]),
    sum.set(compensatedDot(row.get, column.get, n.get)),
    error.set(compensatedErrorCode(sum.get, n, magnitude.get)),
    low.set(f32.demoteF64(f64.sub(sum.get, error.get))),
    ifElse(
      f32.eq(low.get, f32.demoteF64(f64.add(sum.get, error.get))),
      [counted("compensated"), result.set(bitsOf(low.get))],
      [counted("exact"), result.set(exactDot(row.get, column.get, n.get, scratch.get))],
    ),
    ifElse(i32.ne(result.get, bitsOf(speculated.get)), counted("patched")),
    result.get,
  );
}

/**
 * `(count, flagged, values, left, right, rowNorms, columnNorms, leftUnits, rightUnits, out, columns, inner, scratch,
 * stats)`: settles the listed elements of [rows, inner] x [columns, inner], float64 whose values are float32's.
 */
export function settleFunction(settleOne: Callable): FunctionBuilder {
  const fn = new FunctionBuilder(new Array<"i32">(14).fill("i32"));
  const [count, flagged, values, left, right, rowNorms, columnNorms, leftUnits] = fn.parameters as Eight;
  const [rightUnits, out, columns, inner, scratch, stats] = fn.parameters.slice(8) as Six;
  const [index, row, column] = [fn.local("i32"), fn.local("i32"), fn.local("i32")];
  const doubles = (base: Local, at: Code): Code => i32.add(base.get, i32.shl(at, i32.const(3)));
  return fn.emit(
    whileLoop(
      count.get,
      index.set(i32.load(flagged.get)),
      row.set(i32.divU(index.get, columns.get)),
      column.set(i32.sub(index.get, i32.mul(row.get, columns.get))),
      i32.store(
        i32.add(out.get, i32.shl(index.get, i32.const(2))),
        settleOne(
          doubles(left, i32.mul(row.get, inner.get)),
          doubles(right, i32.mul(column.get, inner.get)),
          inner.get,
          f64.load(doubles(values, index.get)),
          f64.mul(f64.load(doubles(rowNorms, row.get)), f64.load(doubles(columnNorms, column.get))),
          doubles(leftUnits, row.get),
          doubles(rightUnits, column.get),
          scratch.get,
          stats.get,
        ),
      ),
      next(flagged, 4),
      next(count, -1),
    ),
  );
}

type Six = [Local, Local, Local, Local, Local, Local];
