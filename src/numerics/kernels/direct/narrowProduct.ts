import { doWhile, ifElse, whileLoop } from "../assembler/control.ts";
import type { Code } from "../assembler/encoding.ts";
import { FunctionBuilder, type Local } from "../assembler/functionBuilder.ts";
import { f32, f32x4, f64x2, i32, v128 } from "../assembler/instructions.ts";
import type { Callable } from "../assembler/moduleBuilder.ts";
import { relaxedMadd } from "../assembler/relaxed.ts";
import { nestOf, type OuterLoop, type Pointers } from "./outerLoops.ts";
import { roundFour, settleFour } from "./rounding.ts";
import { isShort, walkTerms, type TermLoop } from "./terms.ts";

/**
 * Matrix products with few columns or terms, `sum over t of left[o, row + t] * right[o, column, t]`: left factors are
 * read in place, lanes run along columns. Right factors are packed: BLOCK columns together, term after term, zeros for
 * missing columns.
 */
export type NarrowSpec = {
  /** The loops around, outermost first. */
  outer: readonly OuterLoop[];
  /**
   * The number of rows, and the bytes from one row to the next. If the number is undefined, the call gives the row
   * count; else the call gives the number of values of the first loop in `outer`.
   */
  rows: { count: number | undefined; left: number; out: number };
  /**
   * The number of columns, and the bytes from one result to the next. The results of either columns or rows lie side by
   * side.
   */
  columns: { count: number; out: number };
  /** The bytes from the place of a row to its first term, and the bytes by which each loop moves the term. */
  origin: number;
  terms: readonly TermLoop[];
};

/** Columns that are packed together. */
export const BLOCK = 4;
const ROWS = 4;
const FLOAT64 = 8;
const FLOAT32 = 4;
/** Bytes from a term's right factors to the next term's. */
export const PACKED_STEP = BLOCK * FLOAT64;

const quad = [0, 1, 2, 3] as const;
/** The lower or upper lanes of two vectors. */
const LANES = [
  [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23],
  [8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31],
] as const;

/** Whether the four results of a vector belong to four rows; else to four columns. */
const areRows = ({ columns }: NarrowSpec): boolean => columns.out !== FLOAT32;

/**
 * `(left, right, out, list, factor, sums, sums, asked) -> list`: settles the sums selected by `asked`, out of four, by
 * their own magnitudes, or lists them. The four sums belong to four rows in a column or four columns in a row.
 */
export function narrowSettleFunction(spec: NarrowSpec): FunctionBuilder {
  const fn = new FunctionBuilder(["i32", "i32", "i32", "i32", "f64", "v128", "v128", "i32"], "i32");
  const [left, right, out, list, factor, first, second, asked] = fn.parameters as Eight;
  const magnitudes = [fn.local("v128"), fn.local("v128")] as const;
  const rows = areRows(spec);
  const one = fn.local("v128");
  const { left: step } = spec.rows;
  const walk = { loops: spec.terms, origin: spec.origin, rightStep: PACKED_STEP };
  const terms = walkTerms(fn, walk, left, right, false, (at) => {
    const single = rows ? v128.load64Splat(at.right, at.rightOffset) : v128.load64Splat(at.left, at.leftOffset);
    const several = (n: 0 | 1): Code =>
      rows
        ? v128.load64High(
            at.left,
            v128.load64Zero(at.left, at.leftOffset + 2 * n * step),
            at.leftOffset + (2 * n + 1) * step,
          )
        : v128.load(at.right, at.rightOffset + 16 * n);
    return [
      one.set(f64x2.abs(single)),
      magnitudes.map((local, n) => local.set(relaxedMadd(f64x2.abs(several(n as 0 | 1)), one.get, local.get))),
    ];
  });
  const errors = magnitudes.map((local) => f64x2.mul(local.get, f64x2.splat(factor.get))) as [Code, Code];
  const places = rows
    ? { outStep: spec.rows.out, leftStep: step, rightStep: 0 }
    : { outStep: spec.columns.out, leftStep: 0, rightStep: FLOAT64 };
  return fn.emit(
    terms,
    settleFour(fn, [first.get, second.get], errors, { out, left, right, ...places }, asked, list),
    list.get,
  );
}

type Eight = [Local, Local, Local, Local, Local, Local, Local, Local];

/** Like `windowFunction`, but with a sum of right factors' magnitudes for each column, packed like the factors. */
export function narrowFunction(spec: NarrowSpec, settle: Callable): FunctionBuilder {
  const fn = new FunctionBuilder(["i32", "i32", "i32", "i32", "i32", "f64", "f64", "i32"], "i32");
  const [list, bound, factor, count] = fn.parameters.slice(4) as [Local, Local, Local, Local];
  const { rows, columns } = spec;
  const terms = spec.terms.reduce((product, { radix }) => product * radix, 1);
  const sums = quad.map(() => [fn.local("v128"), fn.local("v128")] as const);
  const weights = [fn.local("v128"), fn.local("v128")] as const;
  const errors = [fn.local("v128"), fn.local("v128")] as const;
  const [single, low, scale] = [fn.local("v128"), fn.local("v128"), fn.local("v128")];
  const [bits, rowsLeft, columnsLeft] = [fn.local("i32"), fn.local("i32"), fn.local("i32")];
  const moved = (local: Local, by: number): Code => local.set(i32.add(local.get, i32.const(by)));
  const after = (base: Local, by: number): Code => (by === 0 ? base.get : i32.add(base.get, i32.const(by)));
  return fn.emit(
    scale.set(f64x2.splat(bound.get)),
    nestOf(fn, spec.outer, rows.count === undefined ? undefined : count, allRows),
    list.get,
  );

  function allRows(at: Pointers): Code {
    const [left, rowOut] = [fn.local("i32"), fn.local("i32")];
    const [right, weightSums, out] = [fn.local("i32"), fn.local("i32"), fn.local("i32")];
    return [
      left.set(at.left.get),
      rowOut.set(at.out.get),
      rowsLeft.set(rows.count === undefined ? count.get : i32.const(rows.count)),
      whileLoop(
        i32.gtS(rowsLeft.get, i32.const(0)),
        right.set(at.right.get),
        weightSums.set(at.sums.get),
        out.set(rowOut.get),
        columnsLeft.set(i32.const(columns.count)),
        doWhile(
          i32.gtS(columnsLeft.get, i32.const(0)),
          sumsOf(left, right),
          errors.map((error, n) => error.set(f64x2.mul(scale.get, v128.load(weightSums.get, 16 * n)))),
          areRows(spec) ? storeColumns(left, right, out) : storeRows(left, right, out),
          moved(right, terms * PACKED_STEP),
          moved(weightSums, PACKED_STEP),
          moved(out, BLOCK * columns.out),
          moved(columnsLeft, -BLOCK),
        ),
        moved(left, ROWS * rows.left),
        moved(rowOut, ROWS * rows.out),
        moved(rowsLeft, -ROWS),
      ),
    ];
  }

  /** Sets `sums` to the sums of four rows and four columns. */
  function sumsOf(left: Local, right: Local): Code {
    const zero = v128.const(new Array<number>(16).fill(0));
    const walk = { loops: spec.terms, origin: spec.origin, rightStep: PACKED_STEP };
    return [
      isShort(terms) ? [] : sums.flat().map((sum) => sum.set(zero)),
      walkTerms(fn, walk, left, right, true, (at) => [
        weights.map((weight, n) => weight.set(v128.load(at.right, at.rightOffset + 16 * n))),
        quad.map((row) => [
          single.set(v128.load64Splat(at.left, at.leftOffset + row * rows.left)),
          sums[row]!.map((sum, n) =>
            sum.set(
              at.isFirst
                ? f64x2.mul(single.get, weights[n as 0 | 1].get)
                : relaxedMadd(single.get, weights[n as 0 | 1].get, sum.get),
            ),
          ),
        ]),
      ]),
    ];
  }

  /** Stores results column by column; four rows lie side by side. */
  function storeColumns(left: Local, right: Local, out: Local): Code {
    return quad.map((column) => {
      const half = (n: 0 | 1): Code =>
        v128.shuffle(
          sums[2 * n]![(column >> 1) as 0 | 1].get,
          sums[2 * n + 1]![(column >> 1) as 0 | 1].get,
          LANES[(column & 1) as 0 | 1],
        );
      const pair = [fn.local("v128"), fn.local("v128")] as const;
      const error = errors[(column >> 1) as 0 | 1].get;
      const own = f64x2.splat(f64x2.extract(error, column & 1));
      const code: Code = [
        pair.map((local, n) => local.set(half(n as 0 | 1))),
        single.set(own),
        roundFour(low, bits, [pair[0].get, pair[1].get], [single.get, single.get]),
        stored(out, column * columns.out, rowsLeft),
        settleRemaining(left.get, after(right, FLOAT64 * column), after(out, column * columns.out), pair, rowsLeft),
      ];
      return exists(columnsLeft, column, columns.count % BLOCK !== 0, code);
    });
  }

  /** Stores results row by row; four columns lie side by side. */
  function storeRows(left: Local, right: Local, out: Local): Code {
    return quad.map((row) => {
      const pair = sums[row]!;
      const code: Code = [
        roundFour(low, bits, [pair[0].get, pair[1].get], [errors[0].get, errors[1].get]),
        stored(out, row * rows.out, columnsLeft),
        settleRemaining(after(left, row * rows.left), right.get, after(out, row * rows.out), pair, columnsLeft),
      ];
      return exists(rowsLeft, row, rows.count === undefined || rows.count % ROWS !== 0, code);
    });
  }

  /** The code for result n, conditional on more than n being left where `isAsked`. */
  function exists(left: Local, n: number, isAsked: boolean, code: Code): Code {
    return n === 0 || !isAsked ? code : ifElse(i32.gtS(left.get, i32.const(n)), code);
  }

  /** Stores the lanes in `low`, up to the number of remaining results. */
  function stored(out: Local, offset: number, left: Local): Code {
    return ifElse(
      i32.geS(left.get, i32.const(4)),
      v128.store(out.get, low.get, offset),
      [0, 1, 2].map((lane) =>
        ifElse(
          i32.gtS(left.get, i32.const(lane)),
          f32.store(out.get, f32x4.extract(low.get, lane), offset + FLOAT32 * lane),
        ),
      ),
    );
  }

  /** Settles the existing sums, out of four, that the first bound did not settle. */
  function settleRemaining(left: Code, right: Code, out: Code, pair: readonly [Local, Local], rest: Local): Code {
    const asked = fn.local("i32");
    const few = i32.sub(i32.shl(i32.const(1), rest.get), i32.const(1));
    return ifElse(bits.get, [
      asked.set(bits.get),
      ifElse(i32.ltS(rest.get, i32.const(4)), asked.set(i32.and(bits.get, few))),
      list.set(settle(left, right, out, list.get, factor.get, pair[0].get, pair[1].get, asked.get)),
    ]);
  }
}
