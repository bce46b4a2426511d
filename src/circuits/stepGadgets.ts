import { bitLength } from "../numerics/round.ts";
import type { Circuit } from "./circuit.ts";
import { integer, requireSpan, sum, type Fixed } from "./fixed.ts";
import { atLeastZero, freeBits, isNonzero, isZero } from "./gadgets.ts";
import { addTo, constant, fromBits, minus, ONE, plus, times, ZERO, type Linear } from "./linear.ts";
import type { Levels, Line } from "./stepFunctions.ts";
import { Tables } from "./tables.ts";

/**
 * A line's level at an integer: the whole part of the line's value, between 0 and the highest level.
 * @throws SpanError
 */
export function lineLevel(circuit: Circuit, { linear, low, high }: Fixed, line: Line, highest: bigint): Linear {
  const { slope, offset, places } = line;
  const value = plus(times(linear, slope), constant(offset));
  const [least, most] = [low, high].map((bound) => (slope * bound + offset) >> BigInt(places)) as [bigint, bigint];
  const isSigned = least < 0n;
  // From zero on, a number has its top bit set.
  const size = bitLength(isSigned && -least > most + 1n ? -least - 1n : most);
  const count = places + size + (isSigned ? 1 : 0);
  requireSpan(count, "a function's remainder");
  const shifted = isSigned ? plus(value, constant(1n << BigInt(places + size))) : value;
  const bits = freeBits(circuit, count, (read) => read(shifted));
  circuit.require(fromBits(bits), ONE, shifted);
  const whole = bits.slice(places, places + size);
  const isTooHigh =
    line.ties === undefined ? ZERO : tied(circuit, bits.slice(line.ties.bits, places), whole, line.ties);
  const number = minus(fromBits(whole), isTooHigh);
  const level = most > highest ? atMost(circuit, whole, number, highest) : number;
  const result = isSigned ? circuit.product(bits[places + size]!, level) : level;
  const sumWithExceptions = new Map(result);
  for (const [x, difference] of line.exceptions)
    if (x >= low && x <= high) {
      const isHere = isZero(circuit, sum({ linear, unit: 0, low, high }, integer(x), -1n));
      addTo(sumWithExceptions, isHere, difference);
    }
  return sumWithExceptions;
}

/** 1 at the first number of a level of the ties' parity, else 0. */
function tied(
  circuit: Circuit,
  rest: readonly Linear[],
  whole: readonly Linear[],
  { parity }: NonNullable<Line["ties"]>,
): Linear {
  const odd = whole[0] ?? ZERO;
  const isParity = parity === 1 ? odd : minus(ONE, odd);
  return circuit.product(minus(ONE, anyOf(circuit, rest)), isParity);
}

/**
 * The lesser of a number and a constant, as one wire and a constant.
 * @param bits The number's, or the bits of the number plus 1 if this sum is at most the constant plus 1.
 */
function atMost(circuit: Circuit, bits: readonly Linear[], number: Linear, most: bigint): Linear {
  const kept = bitLength(most);
  const isMore =
    most + 1n === 1n << BigInt(kept)
      ? anyOf(circuit, bits.slice(kept))
      : atLeastZero(circuit, {
          linear: minus(fromBits(bits), constant(most + 1n)),
          unit: 0,
          low: -(most + 1n),
          high: 1n << BigInt(bits.length),
        });
  return plus(constant(most), circuit.product(minus(ONE, isMore), minus(number, constant(most))));
}

const anyOf = (circuit: Circuit, bits: readonly Linear[]): Linear =>
  bits.length < 2 ? (bits[0] ?? ZERO) : isNonzero(circuit, fromBits(bits));

const clamped = (value: bigint, least: bigint, most: bigint): bigint =>
  value < least ? least : value > most ? most : value;

/**
 * A function's level at an integer, by a table of the levels' bounds: the prover names the level, and the integer must
 * lie between the level's bounds.
 * @throws SpanError
 */
export function boundedLevel(circuit: Circuit, x: Fixed, { starts, before }: Levels): Linear {
  const { linear, low, high } = x;
  const level = circuit.wire((read) => BigInt(starts.filter((start) => read(linear) >= start).length));
  const place: Fixed = { linear: level, unit: 0, low: 0n, high: BigInt(starts.length) };
  const tables = new Tables(circuit);
  // Levels may begin or end beyond the integer's bounds. Beyond the highest level, no number is between the bounds.
  const least = tables.readBits(place, (l) => (l === 0 ? low : clamped(starts[l - 1] ?? high + 1n, low, high + 1n)));
  const most = tables.readBits(place, (l) => clamped(before[l] ?? high, low - 1n, high));
  const span = bitLength(high - low);
  requireSpan(span + 1, "a function's operand");
  for (const difference of [minus(linear, least), minus(most, linear)]) {
    const bits = freeBits(circuit, span, (read) => read(difference));
    circuit.require(fromBits(bits), ONE, difference);
  }
  return level;
}
