import { DType, type DType as DTypeCode, type Word } from "../../../numerics/dtype.ts";
import { Op } from "../../../program/operations.ts";
import { hasTwoResults } from "../../../program/reduction.ts";
import { Reduce, type Axis, type Constant, type Instruction, type Step, type View } from "../../../program/types.ts";
import { greatestWord, minWord } from "../../../numerics/numbers.ts";
import { isEven, type Cut } from "./cuts.ts";
import { isInside } from "./parts.ts";
import { withSlots } from "./slots.ts";

/** Whether a word can be a constant of a step: the maximum of uint64, for example, cannot. */
const isConstant = (word: Word, dtype: DTypeCode): boolean => word < 1n << 63n || dtype === DType.float64;

const searchesMinimum = (reduce: Reduce): boolean =>
  reduce === Reduce.min || reduce === Reduce.argmin || reduce === Reduce.argminLast;
const searchesMaximum = (reduce: Reduce): boolean =>
  reduce === Reduce.max || reduce === Reduce.argmax || reduce === Reduce.argmaxLast;

/**
 * The value for a term that fills a block up: the result does not change. In a search for a position the value may tie,
 * and real terms win ties.
 */
function neutral(reduce: Reduce, dtype: DTypeCode): Word {
  if (searchesMaximum(reduce)) return minWord(dtype);
  return searchesMinimum(reduce) ? greatestWord(dtype) : 0n;
}

/** A step's terms over the digits of the blocks. */
export type BlockTerms = {
  /** Radices of the block-number digits, and (`redDigits`) of digits within a block. */
  blockDigits: number[];
  redDigits: number[];
  constants: readonly Constant[];
  termReads: readonly View[];
  term: Step["term"];
};

/** An old digit as a function over new digits. */
type Moved = { base: number; coeffs: Axis["coeffs"] };
type Move = (digit: number) => Moved;

/**
 * Rewrites a step's terms for blocks of the step's reduction. Terms that fill a block up change nothing: an additional
 * axis goes out of bounds, or the expression has a condition.
 * @param further The number of out digits after the blocks' digits.
 * @param more Constants that an epilogue needs; they follow the step's constants.
 */
export function blockTerms(old: Step, cut: Cut, further: number, more: readonly Constant[] = []): BlockTerms {
  const step = withConstants(old, more);
  const outCount = step.outDigits.length;
  const whole = step.redDigits[cut.digit]!;
  const blockDigits = [...step.redDigits.slice(0, cut.digit), ...(cut.blocks > 1 ? [cut.blocks] : [])];
  const redDigits = [cut.length, ...step.redDigits.slice(cut.digit + 1)];
  const firstRed = outCount + blockDigits.length + further;
  const cutDigit = outCount + cut.digit;
  const own: Moved = {
    base: cut.front ? whole - cut.blocks * cut.length : 0,
    coeffs: [...(cut.blocks > 1 ? [{ digit: cutDigit, coeff: cut.length }] : []), { digit: firstRed, coeff: 1 }],
  };
  const moved: Move = (digit) => {
    if (digit < cutDigit) return { base: 0, coeffs: [{ digit, coeff: 1 }] };
    return digit === cutDigit ? own : { base: 0, coeffs: [{ digit: digit - cutDigit + firstRed, coeff: 1 }] };
  };
  const termReads = step.termReads.map((view): View => ({
    ...view,
    axes: view.axes.map((axis) => movedAxis(axis, moved)),
  }));

  const terms = { blockDigits, redDigits, termReads };
  if (isEven(cut, step)) return { ...terms, ...rewriteCode(step, moved, undefined) };
  const fill = neutral(step.reduce, step.reduceType!);
  const guard: Axis = { extent: whole, stride: 0, base: own.base, div: 1, coeffs: own.coeffs };
  const guarded = isConstant(fill, step.reduceType!) ? guardReads(step, termReads, guard, fill) : undefined;
  if (guarded !== undefined) return { ...terms, termReads: guarded, ...rewriteCode(step, moved, undefined) };
  return { ...terms, ...rewriteCode(step, moved, { digit: cutDigit, extent: whole, fill }) };
}

/** Constants stand before the code's slots, which move up. */
function withConstants(step: Step, more: readonly Constant[]): Step {
  const first = step.termReads.length + step.constants.length;
  const slot = (old: number): number => (old < first ? old : old + more.length);
  const { code, outA, outB } = step.term;
  return {
    ...step,
    constants: [...step.constants, ...more],
    term: { code: code.map((instruction) => withSlots(instruction, slot)), outA: slot(outA), outB: slot(outB) },
  };
}

function movedAxis(axis: Axis, moved: Move): Axis {
  const parts = axis.coeffs.map(({ digit, coeff }) => ({ coeff, ...pick(moved(digit)) }));
  return {
    ...axis,
    base: parts.reduce((base, part) => base + part.coeff * part.base, axis.base),
    coeffs: parts.flatMap((part) => part.coeffs.map(({ digit, coeff }) => ({ digit, coeff: coeff * part.coeff }))),
  };
}

const pick = ({ base, coeffs }: Moved): { base: number; coeffs: Axis["coeffs"] } => ({ base, coeffs });

const resultSlots = ({ reduce, term }: Step): number[] =>
  hasTwoResults(reduce) ? [term.outA, term.outB] : [term.outA];

/** For a pair with a condition and a value, only the condition is guarded. */
const guardedSlots = (step: Step): number[] => (step.reduce === Reduce.last ? [step.term.outA] : resultSlots(step));

/** For terms without code: each view gets the guard as an axis, and the fill value changes nothing. */
function guardReads(step: Step, reads: readonly View[], guard: Axis, fill: Word): View[] | undefined {
  const slots = new Set(guardedSlots(step));
  const radices = [...step.outDigits, ...step.redDigits];
  const usable = [...slots].every((slot) => {
    const view = step.termReads[slot];
    const isIndex = step.termReads.some(({ axes }) => axes.some(({ indirect }) => indirect === slot));
    return view !== undefined && !isIndex && (view.fill === fill || view.axes.every((axis) => isInside(axis, radices)));
  });
  if (step.term.code.length > 0 || !usable) return undefined;
  return reads.map((view, slot) => (slots.has(slot) ? { ...view, fill, axes: [...view.axes, guard] } : view));
}

/**
 * Returns the term's code with renumbered digits. With a guard, results are `fill` where the guard digit's value is out
 * of the old range.
 */
function rewriteCode(
  step: Step,
  moved: Move,
  guard: { digit: number; extent: number; fill: Word } | undefined,
): Pick<BlockTerms, "constants" | "term"> {
  const { int64, bool } = DType;
  const reads = step.termReads.length;
  const named = step.term.code.flatMap(({ op, a }) => (op === Op.digit ? [a] : []));
  const integers = new Set<number>(guard === undefined ? [] : [guard.extent, 0]);
  for (const digit of [...named, ...(guard ? [guard.digit] : [])]) {
    const { base, coeffs } = moved(digit);
    for (const value of [...coeffs.map(({ coeff }) => coeff), base]) integers.add(value);
  }
  const fillType = step.reduce === Reduce.last ? bool : step.reduceType!;
  // The maximum of uint64 cannot be a constant: it is `not 0`.
  const inverted = guard !== undefined && !isConstant(guard.fill, fillType);
  const constants: Constant[] = [
    ...step.constants,
    ...[...integers].map((value): Constant => ({ dtype: int64, value: BigInt(value) })),
    ...(guard ? [{ dtype: fillType, value: inverted ? 0n : guard.fill }] : []),
  ];
  const integer = (value: number): number => reads + step.constants.length + [...integers].indexOf(value);
  const code: Instruction[] = [];
  const push = (op: Instruction["op"], dtype: DTypeCode, a: number, b = 0, c = 0): number =>
    reads + constants.length + code.push({ op, dtype, a, b, c }) - 1;
  const digitValue = (digit: number): number => {
    const { base, coeffs } = moved(digit);
    const parts = coeffs.map((part) => {
      const value = push(Op.digit, int64, part.digit);
      return part.coeff === 1 ? value : push(Op.mul, int64, value, integer(part.coeff));
    });
    const sum = parts.reduce((total, part) => push(Op.add, int64, total, part));
    return base === 0 ? sum : push(Op.add, int64, sum, integer(base));
  };

  const firstSlot = reads + step.constants.length;
  const slots: number[] = [];
  const slot = (old: number): number => (old < firstSlot ? old : slots[old - firstSlot]!);
  for (const { op, dtype, a, b, c } of step.term.code) {
    if (op === Op.digit) slots.push(digitValue(a));
    else {
      const own = withSlots({ op, dtype, a, b, c }, slot);
      slots.push(push(op, dtype, own.a, own.b, own.c));
    }
  }
  const results = resultSlots(step).map(slot);
  if (guard === undefined) return { constants, term: { code, outA: results[0]!, outB: results[1] ?? 0 } };
  const value = digitValue(guard.digit);
  const notBefore = push(Op.le, int64, integer(0), value);
  const inside = push(Op.and, bool, notBefore, push(Op.lt, int64, value, integer(guard.extent)));
  const constant = reads + constants.length - 1;
  const fill = inverted ? push(Op.not, fillType, constant) : constant;
  const guarded = new Map(
    [...new Set(guardedSlots(step).map(slot))].map(
      (old) => [old, push(Op.select, fillType, inside, old, fill)] as const,
    ),
  );
  const outA = guarded.get(results[0]!)!;
  const outB = results[1] ?? 0;
  const second = step.reduce === Reduce.last ? outB : (guarded.get(outB) ?? outB);
  return { constants, term: { code, outA, outB: results.length > 1 ? second : 0 } };
}
