import { bitLength } from "../numerics/round.ts";
import type { Circuit, Hint, Reader } from "./circuit.ts";
import { inverse } from "./field.ts";
import { absolute, productBounds, requireSpan, spanOf, sum, type Fixed } from "./fixed.ts";
import { constant, fromBits, minus, ONE, plus, times, weighted, ZERO, type Linear } from "./linear.ts";

/** A shift's places, and the power of two. */
type Shift = { amount: Linear; power: Linear };

/**
 * Shifts by 0 to `max` places, in weighted bits.
 * @param places Gives the number for an honest prover.
 */
export function shift(circuit: Circuit, max: number, places: (...args: Parameters<Hint>) => number): Shift {
  const weights: number[] = [];
  let rest = max;
  for (let weight = 1; rest > 0; weight *= 2) {
    weights.push(Math.min(weight, rest));
    rest -= Math.min(weight, rest);
  }
  const others = weights.slice(0, -1).reduce((total, weight) => total + weight, 0);
  const bits = weights.map((weight, k) =>
    circuit.bit((read, inputs) => {
      const wanted = places(read, inputs);
      const last = wanted > others;
      if (k === weights.length - 1) return last ? 1n : 0n;
      return BigInt(Math.floor((last ? wanted - weights.at(-1)! : wanted) / weight) % 2);
    }),
  );
  let power: Linear = ONE;
  bits.forEach((bit, k) => {
    const factor = plus(ONE, bit, (1n << BigInt(weights[k]!)) - 1n);
    power = k === 0 ? factor : circuit.product(power, factor);
  });
  return { amount: weighted(bits, weights.map(BigInt)), power };
}

/** 1 - 2 * bit: the factor of a sign. */
const signFactor = (negative: Linear): Linear => plus(ONE, negative, -2n);

/** A number's magnitude and sign bit; never negative numbers have no sign bit. */
export function magnitudeOf(circuit: Circuit, value: Fixed): { magnitude: Linear; negative: Linear | undefined } {
  if (value.low >= 0n) return { magnitude: value.linear, negative: undefined };
  const negative = circuit.bit((read) => (read(value.linear) < 0n ? 1n : 0n));
  return { magnitude: circuit.product(signFactor(negative), value.linear), negative };
}

/** Gives a magnitude its sign. */
export const withSign = (circuit: Circuit, magnitude: Linear, negative: Linear | undefined): Linear =>
  negative === undefined ? magnitude : circuit.product(signFactor(negative), magnitude);

/** A natural number's bits, the lowest first. The caller must constrain the number. */
export const freeBits = (circuit: Circuit, count: number, number: (read: Reader) => bigint): Linear[] =>
  Array.from({ length: count }, (_, k) => circuit.bit((read) => (number(read) >> BigInt(k)) & 1n));

/** 1 if a number is 0, else 0. @throws SpanError */
export function isZero(circuit: Circuit, value: Fixed): Linear {
  // A longer number could be the field's order, and no zero.
  requireSpan(spanOf(value), "a comparison");
  return minus(ONE, isNonzero(circuit, value.linear));
}

/** 1 if a combination is other than 0 in the field, else 0. */
export function isNonzero(circuit: Circuit, value: Linear): Linear {
  const reciprocal = circuit.wire((read) => inverse(read(value)));
  const nonzero = circuit.product(value, reciprocal);
  circuit.require(value, minus(ONE, nonzero), ZERO);
  return nonzero;
}

/** 1 if a number is at least 0, else 0. @throws SpanError */
export function atLeastZero(circuit: Circuit, value: Fixed): Linear {
  if (value.low >= 0n) return ONE;
  if (value.high < 0n) return ZERO;
  const places = spanOf(value);
  requireSpan(places + 1, "a comparison");
  const shifted = plus(value.linear, constant(1n << BigInt(places)));
  const bits = freeBits(circuit, places + 1, (read) => read(shifted));
  circuit.require(fromBits(bits), ONE, shifted);
  return bits[places]!;
}

/** The product of two numbers that vary. @throws SpanError */
export function multiply(circuit: Circuit, a: Fixed, b: Fixed): Fixed {
  const bounds = productBounds(a, b);
  const unit = a.unit + b.unit;
  requireSpan(spanOf({ ...bounds, unit, linear: ZERO }), "a product");
  return { linear: circuit.product(a.linear, b.linear), unit, ...bounds };
}

/** `condition ? a : b`. @param condition A bit. */
export function select(circuit: Circuit, condition: Linear, a: Fixed, b: Fixed): Fixed {
  const unit = Math.min(a.unit, b.unit);
  const difference = sum(a, b, -1n);
  const chosen = times(circuit.product(condition, difference.linear), 1n << BigInt(difference.unit - unit));
  const [x, y] = [a, b].map((value) => ({
    low: value.low << BigInt(value.unit - unit),
    high: value.high << BigInt(value.unit - unit),
  }));
  return {
    linear: plus(chosen, times(b.linear, 1n << BigInt(b.unit - unit))),
    unit,
    low: x!.low < y!.low ? x!.low : y!.low,
    high: x!.high > y!.high ? x!.high : y!.high,
  };
}

/** Rounds an integer to `bits` significant bits, half to even. */
export function roundedInteger(value: bigint, bits: number): bigint {
  const whole = absolute(value);
  const places = BigInt(Math.max(0, bitLength(whole) - bits));
  const kept = whole >> places;
  const rest = whole - (kept << places);
  const half = places === 0n ? 0n : 1n << (places - 1n);
  const up = places > 0n && (rest > half || (rest === half && (kept & 1n) === 1n)) ? 1n : 0n;
  const result = (kept + up) << places;
  return value < 0n ? -result : result;
}
