import { whileLoop } from "./assembler/control.ts";
import type { Code } from "./assembler/encoding.ts";
import { FunctionBuilder, type Local } from "./assembler/functionBuilder.ts";
import { f32, f64, f64x2, i32, v128 } from "./assembler/instructions.ts";
import { relaxedMadd } from "./assembler/relaxed.ts";

/*
 * Products of a few vectors with a float32 matrix in memory. Such products are bound by memory, so each
 * weight is read once and widened in registers, and a few readers go through a part of the matrix each, from its first
 * to its last byte: the processor fetches ahead of them. Products are exact in float64; sums are in any order.
 */

const FLOAT32 = 4;
const FLOAT64 = 8;
const LANES = 4;
const READERS = 4;
/** Sums that are added to in turn: enough to keep the processor busy, and few enough for its registers. */
const [SUMS, MOST_SUMS] = [8, 12];

/** The most vectors that a product takes. With more vectors, widening the matrix once takes less time. */
export const MAX_VECTORS = 4;

type Seven = [Local, Local, Local, Local, Local, Local, Local];

const next = (local: Local, by: number): Code => local.set(i32.add(local.get, i32.const(by)));
const doubles = (base: Local, count: Code): Code => i32.add(base.get, i32.shl(count, i32.const(3)));
const UPPER_HALF = [8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15];

/** The halves of four weights, widened. */
const widened = (weights: Local): [low: Code, high: Code] => [
  f64x2.promoteLowF32(weights.get),
  f64x2.promoteLowF32(v128.shuffle(weights.get, weights.get, UPPER_HALF)),
];

/** A reader's position: a line of the matrix, and the line's float64. */
type Reader = { line: Local; double: Local };

/** Addresses at even distances from a moving first address. */
type Apart = { setUp: Code; at: (first: Local, k: number) => Code };

function apart(fn: FunctionBuilder, count: number, bytes: Code): Apart {
  const moves = Array.from({ length: count - 1 }, () => fn.local("i32"));
  return {
    setUp: moves.map((move, k) => move.set(i32.mul(bytes, i32.const(k + 1)))),
    at: (first, k) => (k === 0 ? first.get : i32.add(first.get, moves[k - 1]!.get)),
  };
}

/**
 * Generates code to run `body` for all lines of a matrix, some lines at a time, then the remaining lines.
 * @param count Lines.
 * @param stride Bytes from a line to the next line.
 * @param each A float64 for each line.
 * @param length Elements of a line; the body moves a reader past the elements.
 */
function overLines<Own extends Reader>(
  fn: FunctionBuilder,
  { matrix, count, stride, each, length }: Record<"matrix" | "count" | "stride" | "each" | "length", Local>,
  readers: readonly Own[],
  body: (readers: readonly Own[]) => Code,
): Code {
  const [share, left, apart, gap] = [fn.local("i32"), fn.local("i32"), fn.local("i32"), fn.local("i32")];
  const turn = (some: readonly Own[], lines: Code): Code => {
    const after = (reader: Own): [Code, Code] => [
      i32.add(reader.line.get, apart.get),
      doubles(reader.double, left.get),
    ];
    return [
      left.set(lines),
      apart.set(i32.mul(left.get, stride.get)),
      some.map((reader, r) => {
        const [line, double] = r === 0 ? [matrix.get, each.get] : after(some[r - 1]!);
        return [reader.line.set(line), reader.double.set(double)];
      }),
      matrix.set(after(some.at(-1)!)[0]),
      each.set(after(some.at(-1)!)[1]),
      whileLoop(
        left.get,
        body(some),
        some.map(({ line, double }) => [line.set(i32.add(line.get, gap.get)), next(double, FLOAT64)]),
        next(left, -1),
      ),
    ];
  };
  return [
    gap.set(i32.sub(stride.get, i32.shl(length.get, i32.const(2)))),
    share.set(i32.divU(count.get, i32.const(readers.length))),
    turn(readers, share.get),
    turn(readers.slice(0, 1), i32.sub(count.get, i32.mul(share.get, i32.const(readers.length)))),
  ];
}

/**
 * `(vectors, matrix, sums, terms, columns, stride, apart)`: adds to `columns` float64 sums of each vector the products
 * of the vector, `terms` float64, with the columns of a float32 matrix. The matrix rows, one per term, begin `stride`
 * bytes apart, and the sums of vectors `apart` bytes apart; vectors lie one behind the other.
 */
export function vectorsByRowsFunction(vectors: number): FunctionBuilder {
  const fn = new FunctionBuilder(new Array<"i32">(7).fill("i32"));
  const [vector, matrix, sums, terms, columns, stride, sumsApart] = fn.parameters as Seven;
  const [at, place, end, wholeEnd] = [fn.local("i32"), fn.local("i32"), fn.local("i32"), fn.local("i32")];
  const [low, high, one] = [fn.local("v128"), fn.local("v128"), fn.local("f64")];
  const readers = Array.from({ length: READERS }, () => ({
    ...{ line: fn.local("i32"), double: fn.local("i32"), weights: fn.local("v128") },
    ...{ first: fn.local("v128"), second: fn.local("v128") },
    factors: Array.from({ length: vectors }, () => fn.local("v128")),
  }));
  const vectorOf = apart(fn, vectors, i32.shl(terms.get, i32.const(3)));
  const sumsOf = apart(fn, vectors, sumsApart.get);
  const each = (body: (row: number) => Code): Code => Array.from({ length: vectors }, (_, row) => body(row));
  return fn.emit(
    [vectorOf.setUp, sumsOf.setUp],
    end.set(doubles(sums, columns.get)),
    wholeEnd.set(doubles(sums, i32.and(columns.get, i32.const(-LANES)))),
    overLines(fn, { matrix, count: terms, stride, each: vector, length: columns }, readers, (some) => [
      some.map(({ double, factors }) => each((row) => factors[row]!.set(v128.load64Splat(vectorOf.at(double, row))))),
      at.set(sums.get),
      whileLoop(
        i32.ltU(at.get, wholeEnd.get),
        some.map(({ line, weights, first, second }) => {
          const [lower, upper] = widened(weights);
          return [weights.set(v128.load(line.get)), first.set(lower), second.set(upper), next(line, LANES * FLOAT32)];
        }),
        each((row) => [
          place.set(sumsOf.at(at, row)),
          low.set(v128.load(place.get)),
          high.set(v128.load(place.get, 16)),
          some.map(({ first, second, factors }) => [
            low.set(relaxedMadd(first.get, factors[row]!.get, low.get)),
            high.set(relaxedMadd(second.get, factors[row]!.get, high.get)),
          ]),
          v128.store(place.get, low.get),
          v128.store(place.get, high.get, 16),
        ]),
        next(at, LANES * FLOAT64),
      ),
      whileLoop(
        i32.ltU(at.get, end.get),
        each((row) => [
          one.set(f64.load(sumsOf.at(at, row))),
          some.map(({ line, factors }) =>
            one.set(f64.add(one.get, f64.mul(f64.promoteF32(f32.load(line.get)), f64x2.extract(factors[row]!.get, 0)))),
          ),
          f64.store(sumsOf.at(at, row), one.get),
        ]),
        some.map(({ line }) => next(line, FLOAT32)),
        next(at, FLOAT64),
      ),
    ]),
  );
}

/**
 * `(vectors, matrix, sums, terms, columns, stride, apart)`: the same, to sums that are not read before, with a float32
 * matrix whose columns have their terms side by side and begin `stride` bytes apart.
 */
export function vectorsByColumnsFunction(vectors: number): FunctionBuilder {
  const fn = new FunctionBuilder(new Array<"i32">(7).fill("i32"));
  const [vector, matrix, sums, terms, columns, stride, sumsApart] = fn.parameters as Seven;
  const [at, end, wholeEnd] = [fn.local("i32"), fn.local("i32"), fn.local("i32")];
  const [first, second, weights] = [fn.local("v128"), fn.local("v128"), fn.local("v128")];
  const count = Math.max(1, Math.min(READERS, Math.floor(SUMS / vectors)));
  // The halves of the weights have sums of their own where there are registers for all.
  const isHalved = 2 * count * vectors <= MOST_SUMS;
  const readers = Array.from({ length: count }, () => ({
    ...{ line: fn.local("i32"), double: fn.local("i32") },
    rows: Array.from({ length: vectors }, () => {
      const even = fn.local("v128");
      return { even, odd: isHalved ? fn.local("v128") : even, one: fn.local("f64") };
    }),
  }));
  const vectorOf = apart(fn, vectors, i32.shl(terms.get, i32.const(3)));
  const sumsOf = apart(fn, vectors, sumsApart.get);
  const zero = f64x2.splat(f64.const(0));
  return fn.emit(
    [vectorOf.setUp, sumsOf.setUp],
    end.set(doubles(vector, terms.get)),
    wholeEnd.set(doubles(vector, i32.and(terms.get, i32.const(-LANES)))),
    overLines(fn, { matrix, count: columns, stride, each: sums, length: terms }, readers, (some) => [
      some.map(({ rows }) => rows.map(({ even, odd }) => [even.set(zero), odd.set(zero)])),
      at.set(vector.get),
      whileLoop(
        i32.ltU(at.get, wholeEnd.get),
        some.map(({ line, rows }) => {
          const [lower, upper] = widened(weights);
          return [
            weights.set(v128.load(line.get)),
            first.set(lower),
            second.set(upper),
            rows.map(({ even, odd }, row) => [
              even.set(relaxedMadd(first.get, v128.load(vectorOf.at(at, row)), even.get)),
              odd.set(relaxedMadd(second.get, v128.load(vectorOf.at(at, row), 16), odd.get)),
            ]),
            next(line, LANES * FLOAT32),
          ];
        }),
        next(at, LANES * FLOAT64),
      ),
      some.map(({ rows }) =>
        rows.map(({ even, odd, one }) => [
          isHalved ? even.set(f64x2.add(even.get, odd.get)) : [],
          one.set(f64.add(f64x2.extract(even.get, 0), f64x2.extract(even.get, 1))),
        ]),
      ),
      whileLoop(
        i32.ltU(at.get, end.get),
        some.map(({ line, rows }) => [
          rows.map(({ one }, row) =>
            one.set(f64.add(one.get, f64.mul(f64.promoteF32(f32.load(line.get)), f64.load(vectorOf.at(at, row))))),
          ),
          next(line, FLOAT32),
        ]),
        next(at, FLOAT64),
      ),
      some.map(({ double, rows }) => rows.map(({ one }, row) => f64.store(sumsOf.at(double, row), one.get))),
    ]),
  );
}
