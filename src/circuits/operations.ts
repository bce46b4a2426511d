import { cast } from "../numerics/cast.ts";
import { DType, dtypeName, isFloat, type DType as DTypeCode } from "../numerics/dtype.ts";
import { FLOAT32_ARITHMETIC, INFINITY_, NEG_INFINITY } from "../numerics/float32.ts";
import { applyOperation } from "../program/expression.ts";
import { Op, signature, type OpName } from "../program/operations.ts";
import type { Circuit } from "./circuit.ts";
import { CircuitRefusalError } from "./errors.ts";
import { fromBit, fromWord, inUnit, integer, scaled, sum, type Fixed } from "./fixed.ts";
import { atLeastZero, isZero, multiply, select } from "./gadgets.ts";
import { minus, ONE, plus, type Linear } from "./linear.ts";
import { roundToFloat32 } from "./rounding.ts";
import { rangeOf } from "./words.ts";

/** A word inside a circuit: a constant, or a varying number. */
export type Value = Known | { readonly fixed: Fixed };
type Known = { readonly word: bigint };

const isKnown = (value: Value): value is Known => "word" in value;

/** A value as a number. @throws CircuitRefusalError for infinities and NaN */
export function numberOf(value: Value, dtype: DTypeCode): Fixed {
  if (!isKnown(value)) return value.fixed;
  return isFloat(dtype) ? fromWord(value.word) : integer(value.word);
}

const bit = (linear: Linear): Value => ({ fixed: fromBit(linear) });

/** The step language's operations, on a circuit's values. */
export class Operations {
  readonly #circuit: Circuit;
  readonly #finest: number | undefined;

  /** @param finest As of `roundToFloat32`. */
  constructor(circuit: Circuit, finest: number | undefined) {
    [this.#circuit, this.#finest] = [circuit, finest];
  }

  /** Rounds an exact number to a type. @throws CircuitRefusalError if an integer may wrap */
  settle(value: Fixed, dtype: DTypeCode): Value {
    if (dtype === DType.float32) return { fixed: roundToFloat32(this.#circuit, value, this.#finest) };
    const range = rangeOf(dtype)!;
    if (value.low < range.low || value.high > range.high)
      throw new CircuitRefusalError(
        `an integer may lie from ${value.low} to ${value.high}, beyond ${dtypeName(dtype)}`,
      );
    return { fixed: value };
  }

  /** The exact product of two values. */
  product(a: Value, b: Value, dtype: DTypeCode): Fixed {
    const [x, y] = [numberOf(a, dtype), numberOf(b, dtype)];
    if (isKnown(a)) return { ...scaled(y, x.low), unit: x.unit + y.unit };
    if (isKnown(b)) return { ...scaled(x, y.low), unit: x.unit + y.unit };
    return multiply(this.#circuit, x, y);
  }

  /** Converts a value between types. @throws CircuitRefusalError */
  cast(value: Value, from: DTypeCode, to: DTypeCode): Value {
    if (isKnown(value)) return { word: cast(value.word, from, to) };
    if (from === to) return value;
    if (to === DType.bool) return bit(minus(ONE, isZero(this.#circuit, value.fixed)));
    if (isFloat(from) && value.fixed.unit < 0)
      throw new CircuitRefusalError(`circuits do not know the cast from ${dtypeName(from)} to ${dtypeName(to)} yet`);
    return this.settle(isFloat(from) ? inUnit(value.fixed, 0) : value.fixed, to);
  }

  /** Applies an operation; unused operands are ignored. @throws CircuitRefusalError */
  apply(op: Op, dtype: DTypeCode, a: Value, b: Value, c: Value): Value {
    if (op === Op.select) return this.select(a, b, c, dtype);
    const { name, arity } = signature(op)!;
    const operands = [a, b, c].slice(0, arity);
    if (operands.every(isKnown)) {
      const [x, y = 0n, z = 0n] = operands.map(({ word }) => word);
      return { word: applyOperation(op, dtype, x!, y, z) };
    }
    return this.#varying(name, dtype, a, b);
  }

  /** `condition ? a : b`. */
  select(condition: Value, a: Value, b: Value, dtype: DTypeCode): Value {
    if (isKnown(condition)) return condition.word === 0n ? b : a;
    const [x, y] = [numberOf(a, dtype), numberOf(b, dtype)];
    return { fixed: select(this.#circuit, condition.fixed.linear, x, y) };
  }

  /** Whether a < b. */
  isLess(a: Value, b: Value, dtype: DTypeCode): Value {
    return this.#not(this.#isAtLeast(numberOf(a, dtype), numberOf(b, dtype)));
  }

  /** The greater of two values, or the lesser. */
  extremum(a: Value, b: Value, dtype: DTypeCode, greatest: boolean): Value {
    // Infinity fills places outside a window.
    if (dtype === DType.float32) {
      const neutral = greatest ? NEG_INFINITY : INFINITY_;
      if (isKnown(a) && a.word === neutral) return b;
      if (isKnown(b) && b.word === neutral) return a;
    }
    const [x, y] = [numberOf(a, dtype), numberOf(b, dtype)];
    if (greatest && isKnown(b) && y.high === 0n && x.negative !== undefined && x.low < 0n && x.high > 0n)
      return { fixed: this.#positivePart(x, x.negative) };
    const atLeast = this.#isAtLeast(x, y);
    const chosen = greatest ? this.select(atLeast, a, b, dtype) : this.select(atLeast, b, a, dtype);
    return isKnown(chosen) ? chosen : { fixed: bounded(chosen.fixed, x, y, greatest) };
  }

  #positivePart(value: Fixed, negative: Linear): Fixed {
    const linear = this.#circuit.product(minus(ONE, negative), value.linear);
    return { linear, unit: value.unit, low: 0n, high: value.high };
  }

  #varying(name: OpName, dtype: DTypeCode, a: Value, b: Value): Value {
    switch (name) {
      case "add":
        return this.settle(sum(numberOf(a, dtype), numberOf(b, dtype)), dtype);
      case "sub":
        return this.settle(sum(numberOf(a, dtype), numberOf(b, dtype), -1n), dtype);
      case "mul":
        return this.settle(this.product(a, b, dtype), dtype);
      case "div":
        return this.#divide(a, b, dtype);
      case "neg":
        return this.settle(scaled(numberOf(a, dtype), -1n), dtype);
      case "abs":
        return this.extremum(a, this.#varying("neg", dtype, a, a), dtype, true);
      case "max":
      case "min":
        return this.extremum(a, b, dtype, name === "max");
      case "lt":
        return this.isLess(a, b, dtype);
      case "le":
        return this.#isAtLeast(numberOf(b, dtype), numberOf(a, dtype));
      case "eq":
        return this.#isEqual(sum(numberOf(a, dtype), numberOf(b, dtype), -1n));
      case "isNaN":
      case "isInf":
        // A circuit's numbers are all finite.
        return { word: 0n };
      default:
        return this.#logical(name, dtype, a, b);
    }
  }

  /** Divides by a power of two, exactly. */
  #divide(a: Value, b: Value, dtype: DTypeCode): Value {
    const { isNaN, isInfinite } = FLOAT32_ARITHMETIC;
    if (dtype === DType.float32 && isKnown(b) && b.word !== 0n && !isNaN(b.word) && !isInfinite(b.word)) {
      const { low, unit } = fromWord(b.word);
      const number = numberOf(a, dtype);
      if (low === 1n || low === -1n) return this.settle({ ...scaled(number, low), unit: number.unit - unit }, dtype);
    }
    throw new CircuitRefusalError("circuits divide float32 by powers of two only");
  }

  #logical(name: OpName, dtype: DTypeCode, a: Value, b: Value): Value {
    if (dtype !== DType.bool) throw new CircuitRefusalError(`circuits do not know ${name} of ${dtypeName(dtype)} yet`);
    const [x, y] = [numberOf(a, dtype).linear, numberOf(b, dtype).linear];
    switch (name) {
      case "not":
        return bit(minus(ONE, x));
      case "and":
        return bit(this.#circuit.product(x, y));
      case "or":
        return bit(minus(plus(x, y), this.#circuit.product(x, y)));
      case "xor":
        return bit(plus(plus(x, y), this.#circuit.product(x, y), -2n));
      default:
        throw new CircuitRefusalError(`circuits do not know ${name} of bool yet`);
    }
  }

  #isAtLeast(a: Fixed, b: Fixed): Value {
    const difference = sum(a, b, -1n);
    if (difference.low >= 0n) return { word: 1n };
    if (difference.high < 0n) return { word: 0n };
    return bit(atLeastZero(this.#circuit, difference));
  }

  #isEqual(difference: Fixed): Value {
    if (difference.low > 0n || difference.high < 0n) return { word: 0n };
    return bit(isZero(this.#circuit, difference));
  }

  #not(value: Value): Value {
    return isKnown(value) ? { word: 1n - value.word } : bit(minus(ONE, value.fixed.linear));
  }
}

/** Bounds for the greater or lesser number. */
function bounded(chosen: Fixed, a: Fixed, b: Fixed, greatest: boolean): Fixed {
  const [x, y] = [inUnit(a, chosen.unit), inUnit(b, chosen.unit)];
  const least = x.low > y.low === greatest ? x.low : y.low;
  const largest = x.high > y.high === greatest ? x.high : y.high;
  return { ...chosen, low: least, high: largest };
}
