import { FLOAT32_ARITHMETIC } from "../numerics/float32.ts";
import { bitLength } from "../numerics/round.ts";
import { CircuitRefusalError, SpanError } from "./errors.ts";
import { SAFE_BITS } from "./field.ts";
import { addTo, constant, plus, times, type Linear } from "./linear.ts";

/**
 * A number inside a circuit: `linear * 2^unit`. For every input within the declared domains, `linear` lies between
 * `low` and `high`.
 */
export type Fixed = {
  readonly linear: Linear;
  readonly unit: number;
  readonly low: bigint;
  readonly high: bigint;
  /** 1 if the number is below zero, 0 if above; either one at zero. */
  readonly negative?: Linear;
};

/** An integer without its sign. */
export const absolute = (value: bigint): bigint => (value < 0n ? -value : value);

/** A bit as a number. */
export const fromBit = (linear: Linear): Fixed => ({ linear, unit: 0, low: 0n, high: 1n });

/** Bits for the largest magnitude, in the number's unit. */
export const spanOf = ({ low, high }: Fixed): number =>
  bitLength(absolute(low) > absolute(high) ? absolute(low) : absolute(high));

/** An integer as a number. */
export const integer = (value: bigint): Fixed => ({ linear: constant(value), unit: 0, low: value, high: value });

/** A float32 word's number, in the coarsest unit. @throws CircuitRefusalError for NaN and infinities */
export function fromWord(word: bigint): Fixed {
  const { isNaN, isInfinite, decode } = FLOAT32_ARITHMETIC;
  if (isNaN(word) || isInfinite(word)) throw new CircuitRefusalError("a constant is infinite or NaN");
  const decoded = decode(word);
  if (decoded.mantissa === 0n) return integer(0n);
  let [mantissa, unit] = [decoded.negative ? -decoded.mantissa : decoded.mantissa, decoded.exponent];
  while ((mantissa & 1n) === 0n) [mantissa, unit] = [mantissa >> 1n, unit + 1];
  return { linear: constant(mantissa), unit, low: mantissa, high: mantissa };
}

/** The same number in a finer unit. */
export function inUnit(value: Fixed, unit: number): Fixed {
  const factor = 1n << BigInt(value.unit - unit);
  return factor === 1n ? value : { ...scaled(value, factor), unit };
}

/** A number times an integer, in its unit. */
export function scaled({ linear, unit, low, high }: Fixed, factor: bigint): Fixed {
  const [a, b] = [low * factor, high * factor];
  return { linear: times(linear, factor), unit, low: a < b ? a : b, high: a < b ? b : a };
}

/** `a + b * factor`, exact. */
export function sum(a: Fixed, b: Fixed, factor = 1n): Fixed {
  // A zero's unit says nothing.
  if (isZero(b)) return a;
  if (isZero(a)) return scaled(b, factor);
  const unit = Math.min(a.unit, b.unit);
  const [x, y] = [inUnit(a, unit), scaled(inUnit(b, unit), factor)];
  return { linear: plus(x.linear, y.linear), unit, low: x.low + y.low, high: x.high + y.high };
}

/** The exact sum of many numbers. */
export function sumOf(values: readonly Fixed[]): Fixed {
  const terms = values.filter((value) => !isZero(value));
  const unit = terms.reduce((least, term) => Math.min(least, term.unit), terms[0]?.unit ?? 0);
  const linear = new Map<number, bigint>();
  let [low, high] = [0n, 0n];
  for (const term of terms) {
    const factor = 1n << BigInt(term.unit - unit);
    addTo(linear, term.linear, factor);
    low += term.low * factor;
    high += term.high * factor;
  }
  return { linear, unit, low, high };
}

const isZero = ({ low, high }: Fixed): boolean => low === 0n && high === 0n;

/** The bounds of a product. */
export function productBounds(a: Fixed, b: Fixed): { low: bigint; high: bigint } {
  const corners = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high];
  return {
    low: corners.reduce((least, corner) => (corner < least ? corner : least)),
    high: corners.reduce((largest, corner) => (corner > largest ? corner : largest)),
  };
}

/** Refuses what has too many bits for the field. @throws SpanError */
export function requireSpan(bits: number, what: string): void {
  if (bits > SAFE_BITS) throw new SpanError(`${what} spans ${bits} bits, at most ${SAFE_BITS}`);
}
