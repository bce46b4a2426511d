import { block, branchIf, doWhile, drop, ifElse, loop, returned, select, whileLoop } from "./assembler/control.ts";
import type { Code } from "./assembler/encoding.ts";
import { FunctionBuilder, type Local } from "./assembler/functionBuilder.ts";
import { f64, i32, i64 } from "./assembler/instructions.ts";
import type { Callable } from "./assembler/moduleBuilder.ts";

/*
 * An integer super-accumulator. The product of two float32 is an exact float64: m * 2^(field - 1070) with an integer m
 * below 2^48 (its significand without the five bits that are always 0) and an exponent field of 725 (2^-298) to 1279.
 * There is one 64-bit bin for each field; m is added to its bin or subtracted from it: no shift, no carry. 2^15 terms
 * cannot overflow a bin; then carries are moved on. In the end bits are carried through all bins, which leaves the sum
 * in binary, and that is rounded.
 */
const BYTES = 8;
const FIRST_FIELD = 725;
/** Fields, and room for carries of up to 2^63 above the last field. */
const BINS = 1279 - FIRST_FIELD + 1 + 64;
/** The exponent of the first bin's unit. */
const FIRST_EXPONENT = FIRST_FIELD - 1070;
const BLOCK = 2 ** 15 - 1;

/** Bytes of the scratch memory, all zeros before and after a call. */
export const EXACT_SCRATCH = BINS * BYTES;

const INFINITE_FIELD = 0x7ff;
const NAN = 0x7fc00000;
const INFINITY_BITS = 0x7f800000;

const next = (local: Local, by: number): Code => local.set(i32.add(local.get, i32.const(by)));

/**
 * `(a, b, n, scratch, flags) -> flags`: adds n products of float64 numbers with float32 values to the bins. The flags
 * equal src/numerics/exactSum.ts's: 1 for a NaN, 2 and 4 for the infinities.
 */
export function addTermsFunction(): FunctionBuilder {
  const fn = new FunctionBuilder(["i32", "i32", "i32", "i32", "i32"], "i32");
  const [a, b, n, scratch, flags] = fn.parameters as [Local, Local, Local, Local, Local];
  const [end, field, bin] = [fn.local("i32"), fn.local("i32"), fn.local("i32")];
  const [product, bits, sign, m] = [fn.local("f64"), fn.local("i64"), fn.local("i64"), fn.local("i64")];
  const infinite = select(i32.const(2), i32.const(4), f64.gt(product.get, f64.const(0)));
  const flag = select(infinite, i32.const(1), f64.eq(product.get, product.get));
  const fraction = i64.and(i64.shrU(bits.get, i64.const(5n)), i64.const((1n << 47n) - 1n));
  return fn.emit(
    end.set(i32.add(a.get, i32.mul(n.get, i32.const(BYTES)))),
    whileLoop(
      i32.ltU(a.get, end.get),
      product.set(f64.mul(f64.load(a.get), f64.load(b.get))),
      next(a, BYTES),
      next(b, BYTES),
      bits.set(i64.reinterpretF64(product.get)),
      field.set(i32.and(i32.wrapI64(i64.shrU(bits.get, i64.const(52n))), i32.const(INFINITE_FIELD))),
      ifElse(
        i32.eq(field.get, i32.const(INFINITE_FIELD)),
        flags.set(i32.or(flags.get, flag)),
        ifElse(field.get, [
          bin.set(i32.add(scratch.get, i32.shl(i32.sub(field.get, i32.const(FIRST_FIELD)), i32.const(3)))),
          sign.set(i64.shrS(bits.get, i64.const(63n))),
          m.set(i64.or(fraction, i64.const(1n << 47n))),
          // m negated where the sign is -1.
          i64.store(bin.get, i64.add(i64.load(bin.get), i64.sub(i64.xor(m.get, sign.get), sign.get))),
        ]),
      ),
    ),
    flags.get,
  );
}

/**
 * `(scratch)`: moves all but the lowest bit of each bin to the next bin: the sum stays the same, and every bin but the
 * last becomes 0 or 1. Returns the last bin.
 */
export function carryFunction(): FunctionBuilder {
  const fn = new FunctionBuilder(["i32"], "i64");
  const [bin] = fn.parameters as [Local];
  const [end, carry] = [fn.local("i32"), fn.local("i64")];
  return fn.emit(
    end.set(i32.add(bin.get, i32.const(EXACT_SCRATCH - BYTES))),
    doWhile(
      i32.ltU(bin.get, end.get),
      carry.set(i64.add(carry.get, i64.load(bin.get))),
      i64.store(bin.get, i64.and(carry.get, i64.const(1n))),
      carry.set(i64.shrS(carry.get, i64.const(1n))),
      next(bin, BYTES),
    ),
    carry.set(i64.add(carry.get, i64.load(end.get))),
    i64.store(end.get, carry.get),
    carry.get,
  );
}

/**
 * `(scratch, flags) -> bits`: the sum rounded once to float32, half to even; one zero, one NaN. The bins are zeroed.
 */
export function roundSumFunction(carry: Callable): FunctionBuilder {
  const fn = new FunctionBuilder(["i32", "i32"], "i32");
  const [scratch, flags] = fn.parameters as [Local, Local];
  const [bin, end, top] = [fn.local("i32"), fn.local("i32"), fn.local("i32")];
  const [quantum, kept, half, rest] = [fn.local("i32"), fn.local("i32"), fn.local("i32"), fn.local("i32")];
  const negative = fn.local("i32");
  const digit = i32.load(bin.get);
  const address = (exponent: Code): Code =>
    i32.add(scratch.get, i32.shl(i32.sub(exponent, i32.const(FIRST_EXPONENT)), i32.const(3)));
  const zeroed = [
    bin.set(scratch.get),
    doWhile(i32.ltU(bin.get, end.get), i64.store(bin.get, i64.const(0n)), next(bin, BYTES)),
  ];
  const negated = [
    bin.set(scratch.get),
    doWhile(i32.ltU(bin.get, end.get), i64.store(bin.get, i64.sub(i64.const(0n), i64.load(bin.get))), next(bin, BYTES)),
  ];
  const signed = (bits: number): Code => i32.or(i32.const(bits), i32.shl(negative.get, i32.const(31)));
  const bits = i32.add(i32.shl(i32.add(quantum.get, i32.const(149)), i32.const(23)), kept.get);
  const both = i32.const(6);
  return fn.emit(
    end.set(i32.add(scratch.get, i32.const(EXACT_SCRATCH))),
    ifElse(flags.get, [
      zeroed,
      returned(
        ifElse(
          i32.or(i32.and(flags.get, i32.const(1)), i32.eq(i32.and(flags.get, both), both)),
          i32.const(NAN),
          select(i32.const(INFINITY_BITS), i32.const(INFINITY_BITS | (1 << 31)), i32.and(flags.get, i32.const(2))),
          "i32",
        ),
      ),
    ]),
    // No sum reaches the last bin: after carrying, the bin is 0, or -1 for a negative sum.
    ifElse(i64.ltS(carry(scratch.get), i64.const(0n)), [negative.set(i32.const(1)), negated, drop(carry(scratch.get))]),
    bin.set(end.get),
    block(
      loop(next(bin, -BYTES), branchIf(1, digit), branchIf(0, i32.gtU(bin.get, scratch.get))),
      returned(i32.const(0)),
    ),
    top.set(i32.add(i32.shrU(i32.sub(bin.get, scratch.get), i32.const(3)), i32.const(FIRST_EXPONENT))),
    // The result is a multiple of 2^quantum: 24 bits, fewer for subnormals.
    quantum.set(select(i32.sub(top.get, i32.const(23)), i32.const(-149), i32.gtS(top.get, i32.const(-149 + 23)))),
    end.set(address(quantum.get)),
    whileLoop(i32.geU(bin.get, end.get), kept.set(i32.or(i32.shl(kept.get, i32.const(1)), digit)), next(bin, -BYTES)),
    bin.set(i32.sub(end.get, i32.const(BYTES))),
    half.set(digit),
    whileLoop(i32.and(i32.gtU(bin.get, scratch.get), i32.eqz(rest.get)), next(bin, -BYTES), rest.set(digit)),
    end.set(i32.add(scratch.get, i32.const(EXACT_SCRATCH))),
    zeroed,
    kept.set(i32.add(kept.get, i32.and(half.get, i32.or(rest.get, i32.and(kept.get, i32.const(1)))))),
    ifElse(i32.geS(top.get, i32.const(128)), returned(signed(INFINITY_BITS))),
    ifElse(i32.eqz(kept.get), returned(i32.const(0))),
    i32.or(bits, i32.shl(negative.get, i32.const(31))),
  );
}

/**
 * `(a, b, n, scratch) -> bits`: the exact dot product of float64 vectors whose values are float32's, rounded once to
 * float32.
 */
export function exactDotFunction(addTerms: Callable, carry: Callable, roundSum: Callable): FunctionBuilder {
  const fn = new FunctionBuilder(["i32", "i32", "i32", "i32"], "i32");
  const [a, b, n, scratch] = fn.parameters as [Local, Local, Local, Local];
  const flags = fn.local("i32");
  const skip = (local: Local): Code => next(local, BLOCK * BYTES);
  return fn.emit(
    whileLoop(
      i32.gtU(n.get, i32.const(BLOCK)),
      flags.set(addTerms(a.get, b.get, i32.const(BLOCK), scratch.get, flags.get)),
      drop(carry(scratch.get)),
      skip(a),
      skip(b),
      n.set(i32.sub(n.get, i32.const(BLOCK))),
    ),
    flags.set(addTerms(a.get, b.get, n.get, scratch.get, flags.get)),
    roundSum(scratch.get, flags.get),
  );
}
