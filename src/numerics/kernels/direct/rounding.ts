import { ifElse } from "../assembler/control.ts";
import type { Code } from "../assembler/encoding.ts";
import type { FunctionBuilder, Local } from "../assembler/functionBuilder.ts";
import { f32, f32x4, f64x2, i32, i32x4, v128 } from "../assembler/instructions.ts";

/*
 * How the kernels of this folder bound errors. A sum of K products of float32 numbers a w, each exact in float64, is
 * off by at most (K - 1) u S, with u = 2^-53 and S the sum of |a w|, whatever the order and whether or not a product
 * and its addition are fused (the product being exact, both round once): see ../certify.ts, whose `errorFactor` covers
 * the rounding of bounds and ends as well.
 *
 * S itself costs as much as the sum. So S <= (largest |a|) (sum of |w|) is used first, where the first factor is one
 * number for many sums and the second one a constant. With u = 2^-53 against the 2^-25 of a rounding to float32 a bound
 * that is a thousand times too large still settles all but a few of ten thousand sums; for those that it does not
 * settle, S is computed, and those that S does not settle are listed.
 *
 * An Infinity or NaN among the terms makes the sum one of them (products of Infinity and 0 are NaN), so that its ends
 * differ or are NaN: it is listed.
 */

/** Bytes per list entry: the addresses of the result, the first left term and the right terms. */
export const ENTRY_BYTES = 12;

/** The first two float32 of two vectors. */
const LOW_HALVES = [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23];

type Pair = readonly [Code, Code];

/** Returns the lower or upper ends of four sums, in float32. */
const ends = (operation: typeof f64x2.add, sums: Pair, errors: Pair): Code => {
  const [first, second] = [0, 1].map((n) => f32x4.demoteZeroF64(operation(sums[n]!, errors[n]!))) as [Code, Code];
  return v128.shuffle(first, second, LOW_HALVES);
};

/** Sets `low` to four rounded sums, zeros as +0, and `bits` to the sums that the errors do not settle. */
export function roundFour(low: Local, bits: Local, sums: Pair, errors: Pair): Code {
  return [
    low.set(ends(f64x2.sub, sums, errors)),
    bits.set(i32x4.bitmask(f32x4.ne(low.get, ends(f64x2.add, sums, errors)))),
    low.set(f32x4.add(low.get, v128.const(new Array<number>(16).fill(0)))),
  ];
}

/** Four results: the addresses of the first result and the first terms, and the bytes between lanes. */
type Four = { out: Local; outStep: number; left: Local; leftStep: number; right: Local; rightStep: number };

/**
 * Stores the sums selected by `asked`, out of four, and lists the selected sums that the errors do not settle.
 * @param list Moves on by ENTRY_BYTES for each entry.
 */
export function settleFour(
  fn: FunctionBuilder,
  sums: Pair,
  errors: Pair,
  { out, outStep, left, leftStep, right, rightStep }: Four,
  asked: Local,
  list: Local,
): Code {
  const [low, bits] = [fn.local("v128"), fn.local("i32")];
  const at = (base: Local, step: number, lane: number): Code =>
    step * lane === 0 ? base.get : i32.add(base.get, i32.const(step * lane));
  const has = (mask: Local, lane: number): Code => i32.and(mask.get, i32.const(1 << lane));
  return [
    roundFour(low, bits, sums, errors),
    [0, 1, 2, 3].map((lane) =>
      ifElse(has(asked, lane), [
        f32.store(at(out, outStep, lane), f32x4.extract(low.get, lane)),
        ifElse(has(bits, lane), [
          i32.store(list.get, at(out, outStep, lane)),
          i32.store(list.get, at(left, leftStep, lane), 4),
          i32.store(list.get, at(right, rightStep, lane), 8),
          list.set(i32.add(list.get, i32.const(ENTRY_BYTES))),
        ]),
      ]),
    ),
  ];
}
