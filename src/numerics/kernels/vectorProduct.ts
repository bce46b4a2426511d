import { whileLoop } from "./assembler/control.ts";
import type { Code } from "./assembler/encoding.ts";
import { FunctionBuilder, type Local } from "./assembler/functionBuilder.ts";
import { f32, f64, f64x2, i32, v128 } from "./assembler/instructions.ts";
import { relaxedMadd } from "./assembler/relaxed.ts";

/*
 * Products of a vector with a matrix of float32 that lies in memory as it is. They are bound by memory, so each weight
 * is read once and widened in registers, and a few readers go through a part of the matrix each, from its first to its
 * last byte: the processor fetches ahead of them. Products are exact in float64; sums are in any order.
 */

const FLOAT32 = 4;
const FLOAT64 = 8;
const LANES = 4;
const READERS = 4;

type Six = [Local, Local, Local, Local, Local, Local];

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

/**
 * Generates code to run `body` for all lines of a matrix: READERS lines at a time, then the remaining lines.
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
    share.set(i32.divU(count.get, i32.const(READERS))),
    turn(readers, share.get),
    turn(readers.slice(0, 1), i32.sub(count.get, i32.mul(share.get, i32.const(READERS)))),
  ];
}

/**
 * `(vector, matrix, sums, terms, columns, stride)`: adds to each of `columns` float64 sums the products of a vector
 * with `terms` float64 and a column of a float32 matrix. The matrix rows, one per term, begin `stride` bytes apart.
 */
export function vectorByRowsFunction(): FunctionBuilder {
  const fn = new FunctionBuilder(new Array<"i32">(6).fill("i32"));
  const [vector, matrix, sums, terms, columns, stride] = fn.parameters as Six;
  const [at, end, wholeEnd] = [fn.local("i32"), fn.local("i32"), fn.local("i32")];
  const [low, high, weights, one] = [fn.local("v128"), fn.local("v128"), fn.local("v128"), fn.local("f64")];
  const readers = Array.from({ length: READERS }, () => ({
    line: fn.local("i32"),
    double: fn.local("i32"),
    factor: fn.local("v128"),
  }));
  return fn.emit(
    end.set(doubles(sums, columns.get)),
    wholeEnd.set(doubles(sums, i32.and(columns.get, i32.const(-LANES)))),
    overLines(fn, { matrix, count: terms, stride, each: vector, length: columns }, readers, (some) => [
      some.map(({ double, factor }) => factor.set(v128.load64Splat(double.get))),
      at.set(sums.get),
      whileLoop(
        i32.ltU(at.get, wholeEnd.get),
        low.set(v128.load(at.get)),
        high.set(v128.load(at.get, 16)),
        some.map(({ line, factor }) => {
          const [first, second] = widened(weights);
          return [
            weights.set(v128.load(line.get)),
            low.set(relaxedMadd(first, factor.get, low.get)),
            high.set(relaxedMadd(second, factor.get, high.get)),
            next(line, LANES * FLOAT32),
          ];
        }),
        v128.store(at.get, low.get),
        v128.store(at.get, high.get, 16),
        next(at, LANES * FLOAT64),
      ),
      whileLoop(
        i32.ltU(at.get, end.get),
        one.set(f64.load(at.get)),
        some.map(({ line, factor }) => [
          one.set(f64.add(one.get, f64.mul(f64.promoteF32(f32.load(line.get)), f64x2.extract(factor.get, 0)))),
          next(line, FLOAT32),
        ]),
        f64.store(at.get, one.get),
        next(at, FLOAT64),
      ),
    ]),
  );
}

/**
 * `(vector, matrix, sums, terms, columns, stride)`: the same, to sums that are not read before, with a float32 matrix
 * whose columns have their terms side by side and begin `stride` bytes apart.
 */
export function vectorByColumnsFunction(): FunctionBuilder {
  const fn = new FunctionBuilder(new Array<"i32">(6).fill("i32"));
  const [vector, matrix, sums, terms, columns, stride] = fn.parameters as Six;
  const [at, end, wholeEnd] = [fn.local("i32"), fn.local("i32"), fn.local("i32")];
  const [low, high, weights] = [fn.local("v128"), fn.local("v128"), fn.local("v128")];
  const readers = Array.from({ length: READERS }, () => ({
    line: fn.local("i32"),
    double: fn.local("i32"),
    even: fn.local("v128"),
    odd: fn.local("v128"),
    one: fn.local("f64"),
  }));
  const zero = f64x2.splat(f64.const(0));
  return fn.emit(
    end.set(doubles(vector, terms.get)),
    wholeEnd.set(doubles(vector, i32.and(terms.get, i32.const(-LANES)))),
    overLines(fn, { matrix, count: columns, stride, each: sums, length: terms }, readers, (some) => [
      some.map(({ even, odd }) => [even.set(zero), odd.set(zero)]),
      at.set(vector.get),
      whileLoop(
        i32.ltU(at.get, wholeEnd.get),
        low.set(v128.load(at.get)),
        high.set(v128.load(at.get, 16)),
        some.map(({ line, even, odd }) => {
          const [first, second] = widened(weights);
          return [
            weights.set(v128.load(line.get)),
            even.set(relaxedMadd(first, low.get, even.get)),
            odd.set(relaxedMadd(second, high.get, odd.get)),
            next(line, LANES * FLOAT32),
          ];
        }),
        next(at, LANES * FLOAT64),
      ),
      some.map(({ even, odd, one }) => [
        even.set(f64x2.add(even.get, odd.get)),
        one.set(f64.add(f64x2.extract(even.get, 0), f64x2.extract(even.get, 1))),
      ]),
      whileLoop(
        i32.ltU(at.get, end.get),
        some.map(({ line, one }) => [
          one.set(f64.add(one.get, f64.mul(f64.promoteF32(f32.load(line.get)), f64.load(at.get)))),
          next(line, FLOAT32),
        ]),
        next(at, FLOAT64),
      ),
      some.map(({ double, one }) => f64.store(double.get, one.get)),
    ]),
  );
}
