import { DType, dtypeBytes, dtypeName, isSigned, type DType as DTypeCode } from "../numerics/dtype.ts";
import { FLOAT32 } from "../numerics/format.ts";
import { bitLength } from "../numerics/round.ts";
import type { Circuit } from "./circuit.ts";
import { CircuitRefusalError, SpanError } from "./errors.ts";
import { SAFE_BITS } from "./field.ts";
import { absolute, spanOf, type Fixed } from "./fixed.ts";
import { atLeastZero, freeBits, magnitudeOf, shift, withSign } from "./gadgets.ts";
import { fromBits, minus, ONE, plus, times, ZERO, type Linear } from "./linear.ts";
import { MANTISSA } from "./rounding.ts";

/** The float32 numbers for an input: 0, and magnitudes from 2^lowest on, below 2^highest. */
export type Domain = {
  readonly lowest: number;
  readonly highest: number;
  /** Whether negative numbers are among them. */
  readonly signed: boolean;
};

/** An element, both as a word and as a number. The type's width bounds the word. */
export type Decoded = { readonly word: Linear; readonly value: Fixed };

const FRACTION = BigInt(FLOAT32.fractionBits);
const SIGN = BigInt(FLOAT32.bits - 1);
/** A normal float32 with leading bit 2^e has the exponent field e + 127; the hidden bit adds 1 to the field. */
const BIAS = FLOAT32.highestExponent - 1;

/** The largest unsigned word of a type, plus 1. */
const modulusOf = (dtype: DTypeCode): bigint => 1n << BigInt(8 * dtypeBytes(dtype));

/** The unsigned number with a word's bytes. */
const unsigned = (word: bigint, dtype: DTypeCode): bigint => BigInt.asUintN(8 * dtypeBytes(dtype), word);

/** Whether a float32 word lies in a domain; -0 does if negative numbers do. */
export function isWithin({ lowest, highest, signed }: Domain, word: bigint): boolean {
  if (word >> SIGN !== 0n && !signed) return false;
  const exponent = Number((word >> FRACTION) & 0xffn) - FLOAT32.highestExponent;
  return BigInt.asUintN(Number(SIGN), word) === 0n || (exponent >= lowest && exponent < highest);
}

/** @throws CircuitRefusalError if the domain has subnormal numbers, or none at all */
export function checkDomain({ lowest, highest }: Domain): void {
  if (lowest < -BIAS || highest > FLOAT32.highestExponent || lowest >= highest)
    throw new CircuitRefusalError(
      `a domain from 2^${lowest} to 2^${highest}: give exponents in order, from ${-BIAS} to ${FLOAT32.highestExponent}`,
    );
}

/**
 * Decodes a float32 into new wires. A word outside the domain has no assignment.
 * @param input The place among the inputs' words.
 */
export function decodeFloat32(circuit: Circuit, input: number, domain: Domain): Decoded {
  const { lowest, highest, signed } = domain;
  const field = (inputs: readonly bigint[]): number => Number((inputs[input]! >> FRACTION) & 0xffn);
  const negative = signed ? circuit.bit((_, inputs) => (inputs[input]! >> SIGN) & 1n) : undefined;
  const fraction = Array.from({ length: Number(FRACTION) }, (_, k) =>
    circuit.bit((_, inputs) => (inputs[input]! >> BigInt(k)) & 1n),
  );
  const hidden = circuit.bit((_, inputs) => (field(inputs) === 0 ? 0n : 1n));
  const most = highest - 1 - lowest;
  const { amount, power } = shift(circuit, most, (_, inputs) =>
    Math.min(most, Math.max(0, field(inputs) - FLOAT32.highestExponent - lowest)),
  );
  const rest = plus(fromBits(fraction), amount, 1n << FRACTION);
  // Without a hidden bit, a word is zero: subnormal words are in no domain.
  circuit.require(minus(ONE, hidden), rest, ZERO);
  const all = negative === undefined ? rest : plus(rest, negative, 1n << SIGN);
  const mantissa = fromBits([...fraction, hidden]);
  const magnitude = most > 0 ? circuit.product(mantissa, power) : mantissa;
  const largest = ((1n << BigInt(MANTISSA)) - 1n) << BigInt(most);
  return {
    word: plus(plus(all, hidden, BigInt(lowest + BIAS) << FRACTION), hidden, 1n << FRACTION),
    value: {
      linear: withSign(circuit, magnitude, negative),
      unit: lowest - Number(FRACTION),
      low: signed ? -largest : 0n,
      high: largest,
      ...(negative === undefined ? {} : { negative }),
    },
  };
}

/** Decodes an integer or bool into new wires. @param input The place among the inputs' words. */
export function decodeInteger(circuit: Circuit, input: number, dtype: DTypeCode): Decoded {
  const count = dtype === DType.bool ? 1 : 8 * dtypeBytes(dtype);
  const bits = Array.from({ length: count }, (_, k) =>
    circuit.bit((_, inputs) => (unsigned(inputs[input]!, dtype) >> BigInt(k)) & 1n),
  );
  const word = fromBits(bits);
  const half = 1n << BigInt(count - 1);
  if (!isSigned(dtype)) return { word, value: { linear: word, unit: 0, low: 0n, high: 2n * half - 1n } };
  return { word, value: { linear: plus(word, bits.at(-1)!, -2n * half), unit: 0, low: -half, high: half - 1n } };
}

/**
 * The unique word for a float32 number, never NaN or -0.
 * @throws SpanError if the number may be subnormal, or spans too many bits
 */
export function encodeFloat32(circuit: Circuit, value: Fixed): Linear {
  if (value.low === 0n && value.high === 0n) return ZERO;
  if (value.unit < -BIAS) throw new SpanError(`an output has bits of 2^${value.unit}: subnormal words have no circuit`);
  const length = Math.max(MANTISSA, spanOf(value));
  const most = length - 1;
  if (length + most > SAFE_BITS) throw new SpanError(`an output spans ${length} bits in units of 2^${value.unit}`);
  const { magnitude, negative } = magnitudeOf(circuit, value);
  const { amount, power } = shift(circuit, most, (read) => {
    const value = read(magnitude);
    return value === 0n ? 0 : Math.max(0, length - bitLength(absolute(value)));
  });
  const below = BigInt(length - MANTISSA);
  const bits = freeBits(circuit, MANTISSA, (read) => BigInt.asUintN(SAFE_BITS, read(magnitude) * read(power)) >> below);
  const mantissa = fromBits(bits);
  circuit.require(magnitude, power, times(mantissa, 1n << below));
  const top = bits.at(-1)!;
  // Zero keeps its place and has no sign; other numbers move until the top bit equals 1.
  circuit.require(magnitude, minus(ONE, top), ZERO);
  circuit.require(minus(ONE, top), negative === undefined ? amount : plus(amount, negative, 1n << SIGN), ZERO);
  const exponent = plus(times(top, BigInt(length - 1 + value.unit + BIAS)), amount, -1n);
  const positive = plus(mantissa, exponent, 1n << FRACTION);
  return negative === undefined ? positive : plus(positive, negative, 1n << SIGN);
}

/** An integer's or bool's word, as an unsigned number. */
export function encodeInteger(circuit: Circuit, number: Fixed, dtype: DTypeCode): Linear {
  if (number.low >= 0n) return number.linear;
  const negative = minus(ONE, atLeastZero(circuit, number));
  return plus(number.linear, negative, modulusOf(dtype));
}

/** The bytes that a public value holds. */
const VALUE_BYTES = 31;

/** The place of an element in the public values after the context: a value's number, and the bit where it begins. */
type Place = { readonly value: number; readonly bit: bigint };

/**
 * The places of all elements: elements follow each other through all tensors, and an element goes to the value before
 * while that value has room for it.
 * @param tensors The inputs, then the outputs.
 */
export function placesOf(tensors: readonly { dtype: DTypeCode; count: number }[]): Place[] {
  let [value, used] = [-1, VALUE_BYTES];
  return tensors.flatMap(({ dtype, count }) => {
    const size = dtypeBytes(dtype);
    return Array.from({ length: count }, () => {
      if (used + size > VALUE_BYTES) [value, used] = [value + 1, 0];
      const place = { value, bit: BigInt(8 * used) };
      used += size;
      return place;
    });
  });
}

/** How many values the places fill. */
export const valuesOf = (places: readonly Place[]): number => (places.at(-1)?.value ?? -1) + 1;

/** Combinations for public values, from the elements' words. */
export function packWords(words: readonly Linear[], places: readonly Place[]): Linear[] {
  const values = Array.from({ length: valuesOf(places) }, () => ZERO);
  places.forEach(({ value, bit }, k) => (values[value] = plus(values[value]!, words[k]!, 1n << bit)));
  return values;
}

/** Public values, from the elements' words. */
export function packedValues(words: readonly bigint[], places: readonly Place[]): bigint[] {
  const values = new Array<bigint>(valuesOf(places)).fill(0n);
  places.forEach(({ value, bit }, k) => (values[value]! += words[k]! << bit));
  return values;
}

/** Whether circuits know a type. */
export const isKnownType = (dtype: DTypeCode): boolean =>
  ![DType.float16, DType.float64, DType.bfloat16, DType.limb].includes(dtype as never);

/** A type's least and largest integer; undefined for floats. */
export function rangeOf(dtype: DTypeCode): { low: bigint; high: bigint } | undefined {
  if (dtype === DType.float32) return undefined;
  if (!isKnownType(dtype)) throw new CircuitRefusalError(`circuits know no ${dtypeName(dtype)}`);
  if (dtype === DType.bool) return { low: 0n, high: 1n };
  const size = modulusOf(dtype);
  return isSigned(dtype) ? { low: -size / 2n, high: size / 2n - 1n } : { low: 0n, high: size - 1n };
}
