import { Reduce, type Step } from "../../program/types.ts";
import type { LoopDigit } from "../loops/spec.ts";
import { neededDigits, neededSlots, type Expression } from "../loops/slots.ts";

/**
 * The digits of a sum or dot step, arranged as a batch of matrix products `[groups, rows, inner] x [groups, columns,
 * inner]`.
 */
export type ProductLayout = {
  groups: readonly LoopDigit[];
  rows: readonly LoopDigit[];
  columns: readonly LoopDigit[];
  inner: readonly LoopDigit[];
  /** The slots of the term that give the left and the right factor; a sum has no right one. */
  left: number;
  right: number | undefined;
  /** For each out digit, its stride in `[groups, rows, columns]`. */
  strides: readonly number[];
};

/** The number of combinations of some digits. */
export const sizeOf = (digits: readonly LoopDigit[]): number => digits.reduce((size, { radix }) => size * radix, 1);

/** The step's terms as an expression; its results are `step.term.outA` and `outB`. */
export const termExpression = (step: Step): Expression => ({
  reads: step.termReads,
  constants: step.constants,
  code: step.term.code,
});

/** Whether a result of the term is made from constants only. */
export function isConstantFactor(step: Step, slot: number): boolean {
  const reads = [...neededSlots(termExpression(step), [slot])].filter((needed) => needed < step.termReads.length);
  return reads.every((read) => step.inputs[step.termReads[read]!.input]!.kind === "constant");
}

/**
 * Sorts digits by the factors that depend on them: both, groups; only the right one, columns; all others, rows. A sum
 * has no right factor: all its digits are rows. Digits of radix 1 are left out. If only one factor is constant, it is
 * made the right one, because rows can be cut.
 */
export function productLayout(step: Step, isDot = step.reduce === Reduce.dot): ProductLayout {
  const { outA, outB } = step.term;
  const swaps = isDot && isConstantFactor(step, outA) && !isConstantFactor(step, outB);
  const [leftSlot, rightSlot] = swaps ? [outB, outA] : [outA, outB];
  const radices = [...step.outDigits, ...step.redDigits];
  const expression = termExpression(step);
  const left = neededDigits(expression, leftSlot, radices);
  const right = isDot ? neededDigits(expression, rightSlot, radices) : new Set<number>();
  const all = radices.map((radix, digit) => ({ digit, radix })).filter(({ radix }) => radix > 1);
  const out = all.filter(({ digit }) => digit < step.outDigits.length);
  const groups = out.filter(({ digit }) => left.has(digit) && right.has(digit));
  const rows = out.filter(({ digit }) => !right.has(digit));
  const columns = out.filter(({ digit }) => !left.has(digit) && right.has(digit));
  const inner = all.filter(({ digit }) => digit >= step.outDigits.length);
  const strides = new Array<number>(step.outDigits.length).fill(0);
  let stride = 1;
  for (const { digit, radix } of [...groups, ...rows, ...columns].reverse()) {
    strides[digit] = stride;
    stride *= radix;
  }
  return { groups, rows, columns, inner, left: leftSlot, right: isDot ? rightSlot : undefined, strides };
}
