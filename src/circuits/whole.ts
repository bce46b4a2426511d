import { bitLength } from "../numerics/round.ts";
import type { Circuit } from "./circuit.ts";
import { absolute, inUnit, requireSpan, scaled, spanOf, type Fixed } from "./fixed.ts";
import { freeBits, isNonzero, magnitudeOf, withSign } from "./gadgets.ts";
import { constant, fromBits, minus, ONE, plus, times, ZERO, type Linear } from "./linear.ts";
import { MANTISSA } from "./rounding.ts";

/** A quotient by a power of two, rounded down, and the rest's bits. */
type Split = { quotient: Fixed; rest: Linear[]; /** The quotient's lowest bit. */ odd: Linear };

/** Divides an integer by 2^places. @throws SpanError */
function split(circuit: Circuit, { linear, low, high }: Fixed, places: number): Split {
  // An even first quotient: the bits then say which quotients are odd.
  const first = (low >> BigInt(places)) & ~1n;
  const base = first << BigInt(places);
  const count = bitLength(high - base);
  requireSpan(count, "a whole part");
  const shifted = minus(linear, constant(base));
  const bits = freeBits(circuit, count, (read) => read(shifted));
  circuit.require(fromBits(bits), ONE, shifted);
  return {
    quotient: {
      linear: plus(fromBits(bits.slice(places)), constant(first)),
      unit: 0,
      low: low >> BigInt(places),
      high: high >> BigInt(places),
    },
    rest: bits.slice(0, places),
    odd: bits[places] ?? ZERO,
  };
}

/** The greatest integer that is no greater. @throws SpanError */
export const floorOf = (circuit: Circuit, value: Fixed): Fixed =>
  value.unit >= 0 ? inUnit(value, 0) : split(circuit, value, -value.unit).quotient;

/** The nearest integer, half to even. @throws SpanError */
export function nearest(circuit: Circuit, value: Fixed): Fixed {
  if (value.unit >= 0) return inUnit(value, 0);
  const places = -value.unit;
  const half = 1n << BigInt(places - 1);
  const { linear, low, high } = value;
  const raised = { linear: plus(linear, constant(half)), unit: value.unit, low: low + half, high: high + half };
  const { quotient, rest, odd } = split(circuit, raised, places);
  const isBetween = isNonzero(circuit, fromBits(rest));
  const tooHigh = circuit.product(minus(ONE, isBetween), odd);
  const down = (bound: bigint): bigint => {
    const above = (bound + half) >> BigInt(places);
    return above << BigInt(places) === bound + half ? above & ~1n : above;
  };
  return { linear: minus(quotient.linear, tooHigh), unit: 0, low: down(low), high: down(high) };
}

/** The integer without the fraction. @throws SpanError */
export function truncated(circuit: Circuit, value: Fixed): Fixed {
  if (value.unit >= 0) return inUnit(value, 0);
  const { magnitude, negative } = magnitudeOf(circuit, value);
  const largest = 1n << BigInt(spanOf(value));
  const whole = split(circuit, { linear: magnitude, unit: value.unit, low: 0n, high: largest - 1n }, -value.unit);
  const cut = (bound: bigint): bigint => {
    const size = absolute(bound) >> BigInt(-value.unit);
    return bound < 0n ? -size : size;
  };
  const linear = withSign(circuit, whole.quotient.linear, negative);
  return { linear, unit: 0, low: cut(value.low), high: cut(value.high) };
}

/**
 * A quotient by a constant, for rounding: the exact quotient where short, else a number between the same two
 * neighbours with 25 bits as the exact quotient.
 * @param divisor Other than 0.
 * @throws SpanError
 */
export function quotientBy(circuit: Circuit, value: Fixed, divisor: { low: bigint; unit: number }): Fixed {
  const size = absolute(divisor.low);
  // A quotient of 1 / size has MANTISSA bits and one more; the last bit says whether a rest follows.
  const more = MANTISSA + 1 + bitLength(size);
  const { magnitude, negative } = magnitudeOf(circuit, value);
  const dividend = times(magnitude, 1n << BigInt(more));
  const largest = ((1n << BigInt(spanOf(value))) << BigInt(more)) / size;
  const length = bitLength(largest);
  requireSpan(length + bitLength(size) + 1, "a quotient");
  const bits = freeBits(circuit, length, (read) => absolute(read(dividend)) / size);
  const quotient = fromBits(bits);
  const rest = freeBits(circuit, bitLength(size), (read) => absolute(read(dividend)) % size);
  const below = freeBits(circuit, bitLength(size), (read) => size - 1n - (absolute(read(dividend)) % size));
  circuit.require(plus(fromBits(rest), fromBits(below)), ONE, constant(size - 1n));
  circuit.require(plus(times(quotient, size), fromBits(rest)), ONE, dividend);
  const inexact = isNonzero(circuit, fromBits(rest));
  const isNegative = divisor.low < 0n;
  const signed = withSign(circuit, plus(times(quotient, 2n), inexact), negative);
  const bound = (of: bigint): bigint => {
    const shifted = absolute(of) << BigInt(more);
    const whole = 2n * (shifted / size) + (shifted % size === 0n ? 0n : 1n);
    return of < 0n !== isNegative ? -whole : whole;
  };
  const [one, other] = [bound(value.low), bound(value.high)];
  return {
    linear: isNegative ? times(signed, -1n) : signed,
    unit: value.unit - divisor.unit - more - 1,
    low: one < other ? one : other,
    high: one < other ? other : one,
  };
}

/** The least integer that is no less. @throws SpanError */
export function ceilingOf(circuit: Circuit, value: Fixed): Fixed {
  const negated = floorOf(circuit, scaled(value, -1n));
  return scaled(negated, -1n);
}
