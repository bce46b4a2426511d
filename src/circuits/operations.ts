import { getOrAdd } from "../base/getOrAdd.ts";
import { cast } from "../numerics/cast.ts";
import { DType, dtypeBytes, dtypeName, isFloat, isInteger, type DType as DTypeCode } from "../numerics/dtype.ts";
import { FLOAT32_ARITHMETIC, INFINITY_, NEG_INFINITY } from "../numerics/float32.ts";
import { applyOperation } from "../program/expression.ts";
import { Op, signature, type OpName } from "../program/operations.ts";
import type { Circuit } from "./circuit.ts";
import { CircuitRefusalError } from "./errors.ts";
import { fromBit, fromWord, inUnit, scaled, sum, type Fixed } from "./fixed.ts";
import type { Action } from "./functions.ts";
import { atLeastZero, isZero, multiply, select } from "./gadgets.ts";
import { minus, ONE, plus, type Linear } from "./linear.ts";
import { Functions } from "./lookups.ts";
import { roundToFloat32 } from "./rounding.ts";
import { chosen, MAX_CHOICES } from "./tables.ts";
import { current, isKnown, numberOf, Pending, type Known, type Slot, type Value, type Varying } from "./values.ts";
import { ceilingOf, floorOf, nearest, quotientBy, truncated } from "./whole.ts";
import { rangeOf } from "./words.ts";

const bit = (linear: Linear): Value => ({ fixed: fromBit(linear) });

function apply(op: Op, dtype: DTypeCode, operands: readonly Known[]): Known {
  const [x, y = 0n, z = 0n] = operands.map(({ word }) => word);
  return { word: applyOperation(op, dtype, x!, y, z) };
}

/** The numbers of either integer, if all are known. */
function union(...values: readonly Value[]): bigint[] | undefined {
  const numbers = new Set<bigint>();
  for (const value of values) {
    const some = isKnown(value) ? [value.word] : value.choice?.numbers;
    if (some === undefined) return undefined;
    some.forEach((number) => numbers.add(number));
  }
  return numbers.size > MAX_CHOICES ? undefined : [...numbers].sort((a, b) => (a < b ? -1 : 1));
}

/** The step language's operations, on a circuit's values. */
export class Operations {
  readonly #circuit: Circuit;
  readonly #finest: number | undefined;
  readonly #functions: Functions;
  readonly #made = new WeakMap<Pending | Fixed, Map<string, Pending>>();

  /** @param finest As of `roundToFloat32`. */
  constructor(circuit: Circuit, finest: number | undefined) {
    [this.#circuit, this.#finest] = [circuit, finest];
    this.#functions = new Functions(circuit);
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
  cast(slot: Slot, from: DTypeCode, to: DTypeCode): Slot {
    const value = current(slot);
    if (from === to) return value;
    if (!isKnown(value)) {
      if (to === DType.bool) return bit(minus(ONE, isZero(this.#circuit, this.#number(value, from))));
      const result = this.#pending(value, { op: Op.cast, dtype: from, to, position: 0, constant: undefined });
      // Functions of a narrow integer have small tables.
      return result.function.isHard && !isFloat(to) && dtypeBytes(to) <= 2 ? this.settled(result) : result;
    }
    return { word: cast(value.word, from, to) };
  }

  #cast(value: Value, from: DTypeCode, to: DTypeCode): Value {
    if (isKnown(value)) return { word: cast(value.word, from, to) };
    if (isFloat(to)) return this.settle(value.fixed, to);
    const { low, high } = rangeOf(to)!;
    if (!isFloat(from))
      return value.fixed.low >= low && value.fixed.high <= high ? value : this.settle(value.fixed, to);
    const whole: Value = { fixed: truncated(this.#circuit, value.fixed) };
    return this.extremum(this.extremum(whole, { word: high }, to, false), { word: low }, to, true);
  }

  /** Applies an operation; unused operands are ignored. @throws CircuitRefusalError */
  apply(op: Op, dtype: DTypeCode, a: Slot, b: Slot, c: Slot): Slot {
    if (op === Op.select) return this.select(this.settled(a), this.settled(b), this.settled(c), dtype);
    const { name, arity, bool } = signature(op)!;
    const operands = [a, b, c].slice(0, arity).map(current);
    if (operands.every(isKnown)) return apply(op, dtype, operands);
    const [x, y] = operands as [Slot, Slot?];
    if (bool !== true && dtype !== DType.bool) {
      if (!isKnown(x) && (y === undefined || isKnown(y)))
        return this.#pending(x, { op, dtype, to: dtype, position: 0, constant: y?.word });
      if (isKnown(x) && !isKnown(y!)) return this.#pending(y!, { op, dtype, to: dtype, position: 1, constant: x.word });
    }
    const [p, q] = [this.settled(a), this.settled(b)];
    // A function with equal results everywhere is a constant, and may be NaN or infinite.
    const results = [p, q].slice(0, arity);
    return results.every(isKnown) ? apply(op, dtype, results) : this.#varying(name, dtype, p, q);
  }

  /** A value as constraints. @throws CircuitRefusalError */
  settled(slot: Slot): Value {
    const value = current(slot);
    if (!(value instanceof Pending)) return value;
    const { function: of } = value;
    return (value.result = this.#functions.tabled(of) ?? this.#functions.stepped(of) ?? this.#direct(value));
  }

  #direct({ base, action }: Pending): Value {
    const value = this.settled(base);
    const { op, dtype, to, position, constant } = action;
    if (op === Op.cast) return this.#cast(value, dtype, to);
    const other: Value = { word: constant ?? 0n };
    const operands = position === 0 ? [value, other] : [other, value];
    if (operands.every(isKnown)) return apply(op, dtype, operands);
    return this.#varying(signature(op)!.name, dtype, operands[0]!, operands[1]!);
  }

  /** A function of one number. The first reader makes the constraints, and later readers share the result. */
  #pending(base: Varying | Pending, action: Action): Pending {
    const known = getOrAdd(this.#made, base instanceof Pending ? base : base.fixed, () => new Map<string, Pending>());
    const { op, dtype, to, position, constant } = action;
    return getOrAdd(known, `${op} ${dtype} ${to} ${position} ${constant}`, () => new Pending(base, action));
  }

  #number(slot: Slot, dtype: DTypeCode): Fixed {
    return numberOf(this.settled(slot), dtype);
  }

  /** The value at an index: one of some values. @param at Gives the value by its index. */
  valueAt(index: Varying, dtype: DTypeCode, at: (index: bigint) => Value): Value {
    return this.#functions.valueAt(index, dtype, at);
  }

  /** `condition ? a : b`. */
  select(condition: Value, a: Value, b: Value, dtype: DTypeCode): Value {
    if (isKnown(condition)) return condition.word === 0n ? b : a;
    const [x, y] = [numberOf(a, dtype), numberOf(b, dtype)];
    const fixed = select(this.#circuit, condition.fixed.linear, x, y);
    const numbers = isInteger(dtype) ? union(a, b) : undefined;
    return numbers === undefined ? { fixed } : { fixed, choice: chosen(this.#circuit, fixed.linear, numbers) };
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
      case "floor":
        return { fixed: floorOf(this.#circuit, numberOf(a, dtype)) };
      case "ceil":
        return { fixed: ceilingOf(this.#circuit, numberOf(a, dtype)) };
      case "round":
        return { fixed: nearest(this.#circuit, numberOf(a, dtype)) };
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

  /** Divides by a constant: exactly by a power of two, else to a number that rounds as the quotient does. */
  #divide(a: Value, b: Value, dtype: DTypeCode): Value {
    const { isNaN, isInfinite } = FLOAT32_ARITHMETIC;
    if (dtype !== DType.float32 || !isKnown(b) || b.word === 0n || isNaN(b.word) || isInfinite(b.word))
      throw new CircuitRefusalError("circuits divide float32 by constants only, and not by 0");
    const { low, unit } = fromWord(b.word);
    const number = numberOf(a, dtype);
    return low === 1n || low === -1n
      ? this.settle({ ...scaled(number, low), unit: number.unit - unit }, dtype)
      : this.settle(quotientBy(this.#circuit, number, { low, unit }), dtype);
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
