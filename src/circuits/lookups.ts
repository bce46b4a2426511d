import { getOrAdd } from "../base/getOrAdd.ts";
import { isFloat, isInteger, type DType as DTypeCode } from "../numerics/dtype.ts";
import type { Circuit } from "./circuit.ts";
import { inUnit, requireSpan, scaled, spanOf, type Fixed } from "./fixed.ts";
import { hasLevels, StepTable, wordOf, type Function } from "./functions.ts";
import { addTo, constant, plus, ZERO, type Linear } from "./linear.ts";
import { numberOf, type Value, type Varying } from "./values.ts";
import { boundedLevel, lineLevel } from "./stepGadgets.ts";
import { choiceOf, chosen, numbersWithin, Tables, type Choice } from "./tables.ts";
import { isKnownType } from "./words.ts";

/** The most numbers of an operand with a table of a function. */
const MAX_TABLE = 256n;

/** Numbers in one unit, and their bounds. */
type Aligned = { numbers: Fixed[]; unit: number; low: bigint; high: bigint };

/** Functions with a single operand, and reads at places computed from data. */
export class Functions {
  readonly #circuit: Circuit;
  readonly #tables: Tables;
  readonly #steps = new StepTable();
  readonly #words = new Map<string, Map<bigint, bigint>>();
  readonly #choices = new WeakMap<Fixed, Choice>();

  constructor(circuit: Circuit) {
    [this.#circuit, this.#tables] = [circuit, new Tables(circuit)];
  }

  /** A function of few integers, by a table of all results; undefined for others. */
  tabled(of: Function): Value | undefined {
    const { fixed, dtype, choice } = of.root;
    if (!of.isHard || !isKnownType(of.dtype) || isFloat(dtype) || fixed.high - fixed.low >= MAX_TABLE) return undefined;
    const index = choice === undefined ? { fixed } : { fixed, choice };
    const words = getOrAdd(this.#words, of.key, () => new Map<bigint, bigint>());
    return this.valueAt(index, of.dtype, (number) => ({ word: getOrAdd(words, number, () => wordOf(of, number)) }));
  }

  /** A function with few levels, by a line or by a table of bounds; undefined for others. */
  stepped(of: Function): Value | undefined {
    if (!hasLevels(of)) return undefined;
    const { isMirrored, least, levels, line } = this.#steps.stepsOf(of);
    const [one, other] = of.ends;
    const [low, high] = one < other ? [one, other] : [other, one];
    if (low === high) return { word: low };
    const operand = isMirrored ? scaled(of.root.fixed, -1n) : of.root.fixed;
    const level =
      line === undefined
        ? boundedLevel(this.#circuit, operand, levels)
        : lineLevel(this.#circuit, operand, line, BigInt(levels.starts.length));
    return { fixed: { linear: plus(level, constant(least)), unit: 0, low, high } };
  }

  /**
   * The value at an index.
   * @param at Gives the value by its index.
   * @throws CircuitRefusalError if the index has too many numbers; SpanError
   */
  valueAt({ fixed: index, ...given }: Varying, dtype: DTypeCode, at: (index: bigint) => Value): Value {
    // Numbers and selectors come from one choice: two lists for an integer may differ.
    const choice = given.choice ?? this.#choices.get(index);
    const numbers = choice?.numbers ?? numbersWithin(index);
    const values = numbers.map(at);
    const first = values[0]!;
    if (values.every((value) => value === first || sameWord(value, first))) return first;
    const aligned = align(values.map((value) => numberOf(value, dtype)));
    const { unit, low, high } = aligned;
    requireSpan(spanOf({ ...aligned, linear: ZERO }), "a table");
    const isConstant = values.every((value) => "word" in value);
    const linear = isConstant
      ? this.#constants(index, choice, numbers, aligned)
      : this.#sum((choice ?? this.#choose(index, numbers)).selectors(), values, aligned);
    const fixed: Fixed = { linear, unit, low, high };
    const result = isConstant && isInteger(dtype) ? resultChoice(choice, values) : undefined;
    return result === undefined ? { fixed } : { fixed, choice: result };
  }

  #constants(
    index: Fixed,
    choice: Choice | undefined,
    numbers: readonly bigint[],
    { numbers: entries }: Aligned,
  ): Linear {
    const known = new Map(numbers.map((number, k) => [number, entries[k]!.low]));
    return this.#tables.read(index, choice, (number) => known.get(number)!);
  }

  #choose(index: Fixed, numbers: readonly bigint[]): Choice {
    const made = chosen(this.#circuit, index.linear, numbers);
    this.#choices.set(index, made);
    return made;
  }

  /** The sum of all values times their selectors; equal values share a product. */
  #sum(selectors: readonly Linear[], values: readonly Value[], { numbers }: Aligned): Linear {
    const sum = new Map<number, bigint>();
    const shared = new Map<Fixed, { selector: Linear; number: Fixed }>();
    selectors.forEach((selector, k) => {
      const [value, number] = [values[k]!, numbers[k]!];
      if ("word" in value) addTo(sum, selector, number.low);
      else shared.set(value.fixed, { selector: plus(selector, shared.get(value.fixed)?.selector ?? ZERO), number });
    });
    for (const { selector, number } of shared.values()) addTo(sum, this.#circuit.product(selector, number.linear), 1n);
    return sum;
  }
}

const sameWord = (a: Value, b: Value): boolean => "word" in a && "word" in b && a.word === b.word;

/** The possible integers of a table: a selector is the sum of the selectors of all places with the integer. */
function resultChoice(index: Choice | undefined, values: readonly Value[]): Choice | undefined {
  if (index === undefined) return undefined;
  const words = values.map((value) => ("word" in value ? value.word : 0n));
  const numbers = [...new Set(words)].sort((a, b) => (a < b ? -1 : 1));
  return choiceOf(numbers, () => {
    const sums = new Map(numbers.map((number) => [number, new Map<number, bigint>()]));
    index.selectors().forEach((selector, k) => addTo(sums.get(words[k]!)!, selector, 1n));
    return numbers.map((number) => sums.get(number)!);
  });
}

function align(numbers: readonly Fixed[]): Aligned {
  const varying = numbers.filter(({ low, high }) => low !== 0n || high !== 0n);
  const unit = varying.reduce((least, number) => Math.min(least, number.unit), varying[0]?.unit ?? 0);
  // A zero's unit says nothing.
  const inOne = numbers.map((number) =>
    number.low === 0n && number.high === 0n ? { ...number, unit } : inUnit(number, unit),
  );
  const [least, most] = [inOne.map(({ low }) => low), inOne.map(({ high }) => high)];
  return {
    numbers: inOne,
    unit,
    low: least.reduce((a, b) => (a < b ? a : b)),
    high: most.reduce((a, b) => (a > b ? a : b)),
  };
}
