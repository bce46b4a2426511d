import { FLOAT32 } from "../numerics/format.ts";
import { bitLength } from "../numerics/round.ts";
import type { Circuit } from "./circuit.ts";
import { CircuitRefusalError, SpanError } from "./errors.ts";
import { inverse, SAFE_BITS } from "./field.ts";
import { absolute, spanOf, type Fixed } from "./fixed.ts";
import { freeBits, isNonzero, magnitudeOf, roundedInteger, shift, withSign } from "./gadgets.ts";
import { constant, fromBits, minus, ONE, plus, ZERO, type Linear } from "./linear.ts";

/** Significant bits of a float32. */
export const MANTISSA = FLOAT32.fractionBits + 1;

/**
 * Rounds an exact number once to float32, half to even. Short numbers need no constraint.
 *
 * The magnitude moves up until the highest among L bits equals 1, or by S = L - 24 - D places at most, with results in
 * units 2^D. All smaller values have 24 bits or fewer. Product and magnitude stay below 2^252: every equation in the
 * field also holds in the integers.
 * @param finest Below 2^(23 + finest), only multiples of 2^finest have a proof; undefined: all values have.
 * @throws SpanError for numbers too long for the field; CircuitRefusalError for possible overflows
 */
export function roundToFloat32(circuit: Circuit, value: Fixed, finest: number | undefined): Fixed {
  const length = spanOf(value);
  if (length + value.unit > FLOAT32.highestExponent)
    throw new CircuitRefusalError(`a value may reach 2^${length + value.unit}, where float32 ends`);
  if (value.unit < FLOAT32.lowestExponent && length > 0)
    throw new SpanError(`a value has bits of 2^${value.unit}, finer than any float32`);
  if (length <= MANTISSA) return value;
  const coarser = finest === undefined ? 0 : Math.min(Math.max(0, finest - value.unit), length - MANTISSA);
  const { linear, negative } = roundBits(circuit, value, MANTISSA, coarser);
  const step = 1n << BigInt(coarser);
  const down = (bound: bigint): bigint => (bound < 0n ? -((-bound + step - 1n) / step) : bound / step);
  return {
    linear,
    unit: value.unit + coarser,
    low: down(roundedInteger(value.low, MANTISSA)),
    high: -down(-roundedInteger(value.high, MANTISSA)),
    ...(negative === undefined ? {} : { negative }),
  };
}

/**
 * Rounds an integer to `mantissa` significant bits, half to even.
 * @param coarser D: results come in units 2^D. Below 2^(mantissa + D - 1), only multiples have a proof.
 */
export function roundBits(
  circuit: Circuit,
  value: Fixed,
  mantissa: number,
  coarser: number,
): { linear: Linear; negative: Linear | undefined } {
  const length = spanOf(value);
  const most = length - mantissa - coarser;
  if (length + most > SAFE_BITS)
    throw new SpanError(`a sum spans ${length} bits in units of 2^${value.unit}, too many to round in one element`);
  const { magnitude, negative } = magnitudeOf(circuit, value);
  const { amount, power } = shift(circuit, most, (read) =>
    Math.min(most, length - bitLength(absolute(read(magnitude)))),
  );
  const bits = freeBits(circuit, length, (read) => absolute(read(magnitude) * read(power)));
  circuit.require(magnitude, power, fromBits(bits));
  const top = bits[length - 1]!;
  const unmoved = minus(constant(BigInt(most)), amount);
  if (most > 0) circuit.require(minus(ONE, top), unmoved, ZERO);
  const kept = bits.slice(length - mantissa);
  const half = bits[length - mantissa - 1]!;
  const low = fromBits(bits.slice(0, length - mantissa - 1));
  if (coarser > 0) circuit.require(minus(ONE, top), plus(low, half, 1n << BigInt(length - mantissa - 1)), ZERO);
  const up = roundsUp(circuit, half, kept[0]!, low);
  const rounded = plus(fromBits(kept), up);
  const result = most > 0 ? circuit.product(rounded, placesBack(circuit, most, power)) : rounded;
  return { linear: withSign(circuit, result, negative), negative };
}

/** 2^most / power. */
function placesBack(circuit: Circuit, most: number, power: Linear): Linear {
  const back = circuit.wire((read) => (1n << BigInt(most)) * inverse(read(power)));
  circuit.require(back, power, constant(1n << BigInt(most)));
  return back;
}

/** 1 if the half bit equals 1, and lower bits do or the kept bits are odd. */
function roundsUp(circuit: Circuit, half: Linear, odd: Linear, low: Linear): Linear {
  if (low.size === 0) return circuit.product(half, odd);
  const sticky = isNonzero(circuit, low);
  const either = plus(odd, circuit.product(minus(ONE, odd), sticky));
  return circuit.product(half, either);
}
