import { ifElse, select, whileLoop } from "./assembler/control.ts";
import type { Code } from "./assembler/encoding.ts";
import { FunctionBuilder, type Local } from "./assembler/functionBuilder.ts";
import { f32, f64, i32, i64 } from "./assembler/instructions.ts";
import type { Callable } from "./assembler/moduleBuilder.ts";
import { addToLanes, LEAST_TOP } from "./binnedWords.ts";
import { LANE_BITS, LANE_BYTES } from "./lanes.ts";

/*
 * Sums of products of float32, in the words of src/numerics/exactSum.ts: 768 bits in units of 2^-298, then the flags. A
 * product is an exact float64: m * 2^(field - 1070) with an integer m below 2^48. The product is cut at multiples of 32
 * bits into three pieces below 2^32, each added to a lane of 64 bits or subtracted from it: 2^31 terms cannot overflow
 * a lane. In the end carries move on from lane to lane.
 */
const LANES = 24;
/** The exponent field for a product with the unit as lowest bit. */
const UNIT_FIELD = 1070 - 298;
const INFINITE_FIELD = 0x7ff;
const FLOAT32_BYTES = 4;
const LIMB_BYTES = 32;
/** With fewer terms, bins cost more than they save. */
const LEAST_TERMS = 8;
/** Powers of two between a sum's largest product and the top for the next sums. */
const HEADROOM = 4;

/** Bytes of the words of a sum. */
export const WORDS_BYTES = 4 * LIMB_BYTES;
/** Bytes of the scratch memory, all zeros before and after a call. */
export const WORDS_SCRATCH = LANES * LANE_BYTES;

const next = (local: Local, by: Code): Code => local.set(i32.add(local.get, by));

/**
 * `(a, b, bStep, terms, count, out, scratch)`: writes the words of `count` sums of `terms` products each. The factors
 * are float32, side by side; those at `b` are `bStep` bytes apart: 4, or 0 for a single factor of all terms. Sums are
 * first tried in bins, with the top of the sum before; then with the sum's own top; then term by term, in integers.
 * @param binned The function `binnedWordsFunction`.
 */
export function exactWordsFunction(binned: Callable): FunctionBuilder {
  const fn = new FunctionBuilder(["i32", "i32", "i32", "i32", "i32", "i32", "i32"]);
  const [a, b, bStep, terms, count, out, scratch] = fn.parameters as [Local, Local, Local, Local, Local, Local, Local];
  const [end, last, field, flags, lane] = Array.from({ length: 5 }, () => fn.local("i32")) as Five;
  const [bits, sign, m, low, high] = Array.from({ length: 5 }, () => fn.local("i64")) as Five;
  const product = fn.local("f64");
  const [top, largest] = [fn.local("i32"), fn.local("i32")];
  /** 0 once the sum is in the lanes; else the exponent field of the largest product, and the lanes are zeros. */
  const inBins = binned(a.get, b.get, bStep.get, terms.get, top.get, scratch.get);
  const infinite = select(i32.const(2), i32.const(4), f64.gt(product.get, f64.const(0)));
  const flag = select(infinite, i32.const(1), f64.eq(product.get, product.get));
  const fraction = i64.and(i64.shrU(bits.get, i64.const(5n)), i64.const((1n << 47n) - 1n));
  const finite = [
    sign.set(i64.shrS(bits.get, i64.const(63n))),
    m.set(i64.or(fraction, i64.const(1n << 47n))),
    field.set(i32.sub(field.get, i32.const(UNIT_FIELD))),
    // All bits below the unit are zeros.
    ifElse(i32.ltS(field.get, i32.const(0)), [
      m.set(i64.shrU(m.get, i64.extendI32U(i32.sub(i32.const(0), field.get)))),
      field.set(i32.const(0)),
    ]),
    addToLanes({ value: m, sign, field, low, high, lane }, scratch),
  ];
  const oneTerm = [
    product.set(f64.mul(f64.promoteF32(f32.load(a.get)), f64.promoteF32(f32.load(b.get)))),
    next(a, i32.const(FLOAT32_BYTES)),
    next(b, bStep.get),
    bits.set(i64.reinterpretF64(product.get)),
    field.set(i32.and(i32.wrapI64(i64.shrU(bits.get, i64.const(52n))), i32.const(INFINITE_FIELD))),
    ifElse(i32.eq(field.get, i32.const(INFINITE_FIELD)), flags.set(i32.or(flags.get, flag)), ifElse(field.get, finite)),
  ];
  const carried = [
    low.set(i64.const(0n)),
    lane.set(scratch.get),
    whileLoop(
      i32.ltU(lane.get, i32.add(scratch.get, i32.const(WORDS_SCRATCH))),
      low.set(i64.add(low.get, i64.load(lane.get))),
      i64.store(lane.get, i64.const(0n)),
      i32.store(out.get, i32.wrapI64(low.get)),
      low.set(i64.shrS(low.get, i64.const(BigInt(LANE_BITS)))),
      next(out, i32.const(LANE_BITS / 8)),
      next(lane, i32.const(LANE_BYTES)),
    ),
  ];
  const flagged = [
    i64.store(out.get, i64.extendI32U(flags.get)),
    ...[8, 16, 24].map((offset) => i64.store(out.get, i64.const(0n), offset)),
    next(out, i32.const(LIMB_BYTES)),
    flags.set(i32.const(0)),
  ];
  return fn.emit(
    top.set(i32.const(LEAST_TOP)),
    last.set(i32.add(out.get, i32.mul(count.get, i32.const(WORDS_BYTES)))),
    whileLoop(
      i32.ltU(out.get, last.get),
      end.set(i32.add(a.get, i32.mul(terms.get, i32.const(FLOAT32_BYTES)))),
      largest.set(i32.const(1)),
      ifElse(i32.geU(terms.get, i32.const(LEAST_TERMS)), [
        largest.set(inBins),
        ifElse(i32.and(i32.ne(largest.get, i32.const(0)), i32.ne(largest.get, i32.const(INFINITE_FIELD))), [
          top.set(i32.add(largest.get, i32.const(HEADROOM))),
          top.set(select(top.get, i32.const(LEAST_TOP), i32.gtS(top.get, i32.const(LEAST_TOP)))),
          largest.set(inBins),
        ]),
      ]),
      ifElse(largest.get, whileLoop(i32.ltU(a.get, end.get), ...oneTerm), [
        b.set(i32.add(b.get, i32.mul(bStep.get, terms.get))),
        a.set(end.get),
      ]),
      ...carried,
      ...flagged,
    ),
  );
}

type Five = [Local, Local, Local, Local, Local];
