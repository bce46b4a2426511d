import { DType, type DType as DTypeCode, type Word } from "../numerics/dtype.ts";
import { Op, signature } from "../program/operations.ts";
import { hasTwoResults } from "../program/reduction.ts";
import { Reduce, type Axis, type Constant, type Instruction, type Step, type View } from "../program/types.ts";
import { greatestWord, leastWord } from "./words.ts";

/** How reduction digits become blocks: those before `digit`, and of `digit` itself `blocks` values, each of `length` old ones. */
export type Cut = { digit: number; blocks: number; length: number };

const MOST_COEFFICIENT = 2 ** 31;

/** What a term past the end is, so that it changes nothing; undefined if no constant can say it. */
function neutral(reduce: Reduce, dtype: DTypeCode): Word | undefined {
  if (reduce !== Reduce.max && reduce !== Reduce.min) return 0n;
  const word = reduce === Reduce.max ? leastWord(dtype) : greatestWord(dtype);
  return word < 1n << 63n || dtype === DType.float64 ? word : undefined;
}

/** The terms of a step over the digits of its blocks. */
export type BlockTerms = {
  /** Radices of the digits that number the blocks, and of those within a block. */
  blockDigits: number[];
  redDigits: number[];
  constants: readonly Constant[];
  termReads: readonly View[];
  term: Step["term"];
};

/**
 * Rewrites a step's terms for blocks of its reduction. If blocks do not divide the digit that is cut, the last one is filled up with
 * terms that change nothing: by an axis more that is out of bounds there, or by a condition in the expression.
 * @param further Out digits that come after those of the blocks.
 * @returns undefined if that cannot be encoded.
 */
export function blockTerms(step: Step, cut: Cut, further: number): BlockTerms | undefined {
  const outCount = step.outDigits.length;
  const whole = step.redDigits[cut.digit]!;
  const cuts = cut.blocks > 1;
  const blockDigits = [...step.redDigits.slice(0, cut.digit), ...(cuts ? [cut.blocks] : [])];
  const redDigits = [cut.length, ...step.redDigits.slice(cut.digit + 1)];
  const firstRed = outCount + blockDigits.length + further;
  const cutDigit = outCount + cut.digit;
  const parts = [...(cuts ? [{ digit: cutDigit, coeff: cut.length }] : []), { digit: firstRed, coeff: 1 }];
  const moved = (digit: number): Axis["coeffs"] => {
    if (digit < cutDigit) return [{ digit, coeff: 1 }];
    return digit === cutDigit ? parts : [{ digit: digit - cutDigit + firstRed, coeff: 1 }];
  };
  let tooFar = false;
  const termReads = step.termReads.map((view): View => ({
    ...view,
    axes: view.axes.map((axis) => ({
      ...axis,
      coeffs: axis.coeffs.flatMap(({ digit, coeff }) =>
        moved(digit).map((part) => {
          tooFar ||= Math.abs(part.coeff * coeff) >= MOST_COEFFICIENT;
          return { digit: part.digit, coeff: part.coeff * coeff };
        }),
      ),
    })),
  }));
  if (tooFar) return undefined;

  const terms = { blockDigits, redDigits, termReads };
  if (cut.blocks * cut.length === whole) return { ...terms, ...rewriteCode(step, moved, undefined) };
  const fill = neutral(step.reduce, step.reduceType!);
  if (fill === undefined) return undefined;
  const guard: Axis = { extent: whole, stride: 0, base: 0, div: 1, coeffs: parts };
  const guarded = guardReads(step, termReads, guard, fill);
  if (guarded !== undefined) return { ...terms, termReads: guarded, ...rewriteCode(step, moved, undefined) };
  return { ...terms, ...rewriteCode(step, moved, { digit: cutDigit, extent: whole, fill }) };
}

const resultSlots = ({ reduce, term }: Step): number[] =>
  hasTwoResults(reduce) ? [term.outA, term.outB] : [term.outA];

/** Bare terms: the guard is an axis of each view, whose fill value is what changes nothing. */
function guardReads(step: Step, reads: readonly View[], guard: Axis, fill: Word): View[] | undefined {
  const slots = new Set(resultSlots(step));
  const radices = [...step.outDigits, ...step.redDigits];
  const usable = [...slots].every((slot) => {
    const view = step.termReads[slot];
    const isIndex = step.termReads.some(({ axes }) => axes.some(({ indirect }) => indirect === slot));
    return view !== undefined && !isIndex && (view.fill === fill || view.axes.every((axis) => isInside(axis, radices)));
  });
  if (step.term.code.length > 0 || !usable) return undefined;
  return reads.map((view, slot) => (slots.has(slot) ? { ...view, fill, axes: [...view.axes, guard] } : view));
}

function isInside({ base, coeffs, div, extent, indirect }: Axis, radices: readonly number[]): boolean {
  const moves = coeffs.map(({ digit, coeff }) => coeff * (radices[digit]! - 1));
  const reach = (sign: number): number => moves.reduce((sum, move) => (move * sign > 0 ? sum + move : sum), base);
  return indirect === undefined && div === 1 && reach(-1) >= 0 && reach(1) < extent;
}

/** The term's code with its digits renumbered; with a guard, results are `fill` where the digit's value is past its extent. */
function rewriteCode(
  step: Step,
  moved: (digit: number) => Axis["coeffs"],
  guard: { digit: number; extent: number; fill: Word } | undefined,
): Pick<BlockTerms, "constants" | "term"> {
  const { int64 } = DType;
  const reads = step.termReads.length;
  const values = new Set(guard === undefined ? [] : [guard.extent]);
  const named = step.term.code.flatMap(({ op, a }) => (op === Op.digit ? [a] : []));
  for (const digit of [...named, ...(guard ? [guard.digit] : [])])
    for (const { coeff } of moved(digit)) if (coeff !== 1) values.add(coeff);
  const integers = [...values];
  const constants: Constant[] = [
    ...step.constants,
    ...integers.map((value): Constant => ({ dtype: int64, value: BigInt(value) })),
    ...(guard ? [{ dtype: step.reduceType!, value: guard.fill }] : []),
  ];
  const integer = (value: number): number => reads + step.constants.length + integers.indexOf(value);
  const code: Instruction[] = [];
  const push = (op: Instruction["op"], dtype: DTypeCode, a: number, b = 0, c = 0): number =>
    reads + constants.length + code.push({ op, dtype, a, b, c }) - 1;
  const digitValue = (digit: number): number => {
    const parts = moved(digit).map((part) => {
      const value = push(Op.digit, int64, part.digit);
      return part.coeff === 1 ? value : push(Op.mul, int64, value, integer(part.coeff));
    });
    return parts.reduce((sum, part) => push(Op.add, int64, sum, part));
  };

  const firstSlot = reads + step.constants.length;
  const slots: number[] = [];
  const slot = (old: number): number => (old < firstSlot ? old : slots[old - firstSlot]!);
  for (const { op, dtype, a, b, c } of step.term.code) {
    if (op === Op.digit) slots.push(digitValue(a));
    else if (op === Op.cast) slots.push(push(op, dtype, slot(a), b));
    else {
      const { arity } = signature(op)!;
      slots.push(push(op, dtype, slot(a), arity > 1 ? slot(b) : 0, arity > 2 ? slot(c) : 0));
    }
  }
  let results = resultSlots(step).map(slot);
  if (guard !== undefined) {
    const inside = push(Op.lt, int64, digitValue(guard.digit), integer(guard.extent));
    const fill = reads + constants.length - 1;
    const guarded = new Map(
      results.map((result) => [result, push(Op.select, step.reduceType!, inside, result, fill)] as const),
    );
    results = results.map((result) => guarded.get(result)!);
  }
  return { constants, term: { code, outA: results[0]!, outB: results[1] ?? 0 } };
}
