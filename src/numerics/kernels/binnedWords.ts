import { ifElse, select, whileLoop } from "./assembler/control.ts";
import type { Code } from "./assembler/encoding.ts";
import { FunctionBuilder, type Local } from "./assembler/functionBuilder.ts";
import { f64, f64x2, i32, i64, v128 } from "./assembler/instructions.ts";
import { LANE_BITS, LANE_BYTES } from "./lanes.ts";

/*
 * Exact sums of products in three bins (after Demmel and Nguyen, "Parallel reproducible summation", 2015). A product p
 * of two float32 is an exact float64. Bin k has the unit u_k = 2^(top - k * width). Adding 1.5 * 2^52 * u_1 to p and
 * subtracting 1.5 * 2^52 * u_1 again rounds p to a multiple of u_1; the difference from p is exact, and goes to the
 * next bin in the same way. A bin adds multiples of the unit, and all partial sums stay below 2^53 units: no addition
 * rounds. What is left of a product after the third bin must be 0. If something is left, or a product reaches 2^top,
 * nothing is added, and the caller adds in integers.
 */
const BINS = 3;
/** A bin's width must be below this for the rounding by addition. */
const MAX_WIDTH = 48;
const BIAS = 1023;
const FRACTION_BITS = 52n;
/** The exponent field of 2^-298, the unit of the words. */
const UNIT_FIELD = BIAS - 298;
const FLOAT32_BYTES = 4;
/** The least exponent field for a top: the last bin's unit is at least 2^-298, however wide the bins are. */
export const LEAST_TOP = UNIT_FIELD + BINS * MAX_WIDTH;

/**
 * `(value, sign, field)`: adds the integer `value`, below 2^53, times 2^field to lanes at `scratch`; `sign` is 0 or -1.
 * The integer is cut at multiples of 32 bits into three pieces below 2^32.
 */
export function addToLanes(
  { value, sign, field, low, high, lane }: Record<"value" | "sign" | "field" | "low" | "high" | "lane", Local>,
  scratch: Local,
): Code[] {
  const shift = i64.extendI32U(i32.and(field.get, i32.const(LANE_BITS - 1)));
  const lower = (bits: Code): Code => i64.and(bits, i64.const(0xffffffffn));
  const upper = (bits: Code): Code => i64.shrU(bits, i64.const(BigInt(LANE_BITS)));
  /** Adds a piece to the n-th lane from `lane` on, negated where the sign is -1. */
  const add = (n: number, piece: Code): Code => {
    const signed = i64.sub(i64.xor(piece, sign.get), sign.get);
    return i64.store(lane.get, i64.add(i64.load(lane.get, n * LANE_BYTES), signed), n * LANE_BYTES);
  };
  return [
    lane.set(i32.add(scratch.get, i32.mul(i32.shrU(field.get, i32.const(5)), i32.const(LANE_BYTES)))),
    low.set(i64.shl(lower(value.get), shift)),
    high.set(i64.add(i64.shl(upper(value.get), shift), upper(low.get))),
    add(0, lower(low.get)),
    add(1, lower(high.get)),
    add(2, upper(high.get)),
  ];
}

/**
 * `(a, b, bStep, terms, top, scratch) -> 0`: adds the sum of products to the lanes at `scratch`; `top` is an exponent
 * field, and all products are below that power of two. Or adds nothing, and returns the exponent field of the largest
 * product that is a number: 2047 for an infinite one.
 */
export function binnedWordsFunction(): FunctionBuilder {
  const fn = new FunctionBuilder(["i32", "i32", "i32", "i32", "i32", "i32"], "i32");
  const [a, b, bStep, terms, top, scratch] = fn.parameters as [Local, Local, Local, Local, Local, Local];
  const [width, end, field, lane] = Array.from({ length: 4 }, () => fn.local("i32")) as [Local, Local, Local, Local];
  const [value, sign, low, high] = Array.from({ length: 4 }, () => fn.local("i64")) as [Local, Local, Local, Local];
  const [left, next, rest, most, factor] = Array.from({ length: 5 }, () => fn.local("v128")) as Five;
  const bins = Array.from({ length: BINS }, () => ({ sum: fn.local("v128"), shifter: fn.local("v128") }));
  const whole = fn.local("f64");
  /** The exponent field of bin k's unit, k from 1. */
  const unitField = (k: number): Code => i32.sub(top.get, i32.mul(width.get, i32.const(k)));
  const power = (exponent: Code): Code => i64.shl(i64.extendI32U(exponent), i64.const(FRACTION_BITS));
  const product = (first: Code, second: Code): Code => [
    left.set(f64x2.mul(first, second)),
    // The loop passes over a NaN, and the NaN stays among the rest.
    most.set(f64x2.pmax(most.get, f64x2.abs(left.get))),
    bins.map(({ sum, shifter }) => [
      next.set(f64x2.sub(f64x2.add(left.get, shifter.get), shifter.get)),
      sum.set(f64x2.add(sum.get, next.get)),
      left.set(f64x2.sub(left.get, next.get)),
    ]),
    rest.set(v128.or(rest.get, left.get)),
  ];
  const two = (at: Local): Code => f64x2.promoteLowF32(v128.load64Zero(at.get));
  const one = (at: Local): Code => f64x2.promoteLowF32(v128.load32Zero(at.get));
  const advance = (at: Local): Code => at.set(i32.add(at.get, i32.const(2 * FLOAT32_BYTES)));
  const pairs = (second: Code, ...moves: Code[]): Code =>
    whileLoop(i32.ltU(a.get, end.get), product(two(a), second), advance(a), ...moves);
  const finish = bins.map(({ sum }, k) => [
    whole.set(f64.add(f64x2.extract(sum.get, 0), f64x2.extract(sum.get, 1))),
    // Times the inverse of the unit.
    value.set(
      i64.truncSatF64S(f64.mul(whole.get, f64.reinterpretI64(power(i32.sub(i32.const(2 * BIAS), unitField(k + 1)))))),
    ),
    sign.set(i64.shrS(value.get, i64.const(63n))),
    value.set(i64.sub(i64.xor(value.get, sign.get), sign.get)),
    field.set(i32.sub(unitField(k + 1), i32.const(UNIT_FIELD))),
    addToLanes({ value, sign, field, low, high, lane }, scratch),
  ]);
  const fieldOf = (number: Code): Code => i32.wrapI64(i64.shrU(i64.reinterpretF64(number), i64.const(FRACTION_BITS)));
  return fn.emit(
    // The terms are below 2^(32 - clz): their sum stays below 2^52 units of the first bin.
    width.set(i32.add(i32.const(20), i32.clz(terms.get))),
    width.set(select(width.get, i32.const(MAX_WIDTH), i32.ltS(width.get, i32.const(MAX_WIDTH)))),
    bins.map(({ shifter }, k) =>
      shifter.set(
        f64x2.splat(
          f64.mul(
            f64.const(1.5),
            f64.reinterpretI64(power(i32.add(unitField(k + 1), i32.const(Number(FRACTION_BITS))))),
          ),
        ),
      ),
    ),
    end.set(i32.add(a.get, i32.mul(i32.and(terms.get, i32.const(-2)), i32.const(FLOAT32_BYTES)))),
    ifElse(bStep.get, pairs(two(b), advance(b)), [
      factor.set(f64x2.promoteLowF32(v128.load32Splat(b.get))),
      pairs(factor.get),
    ]),
    ifElse(i32.and(terms.get, i32.const(1)), product(one(a), one(b))),
    whole.set(f64.max(f64x2.extract(most.get, 0), f64x2.extract(most.get, 1))),
    field.set(fieldOf(whole.get)),
    ifElse(
      i32.or(i32.geU(field.get, top.get), v128.anyTrue(f64x2.abs(rest.get))),
      // Not 0, if all numbers are 0 and there is a NaN.
      i32.or(field.get, i32.eqz(field.get)),
      [...finish, i32.const(0)],
      "i32",
    ),
  );
}

type Five = [Local, Local, Local, Local, Local];
