import { DType, dtypeBytes } from "../../numerics/dtype.ts";
import { Reduce, type Step } from "../../program/types.ts";
import type { LoopDigit } from "../loops/spec.ts";
import type { PlanOptions } from "./stepPlan.ts";
import { LANES } from "../loops/values.ts";
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
  /** The term's slots for the left and right factors; a sum has no right factor. */
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

/** Returns true if a result of the term comes from constants only. */
export function isConstantFactor(step: Step, slot: number): boolean {
  const reads = [...neededSlots(termExpression(step), [slot])].filter((needed) => needed < step.termReads.length);
  return reads.every((read) => step.inputs[step.termReads[read]!.input]!.kind === "constant");
}

/** Maximum constant bytes per element of a packed factor. */
const PACKED_BYTES = 1.5;
/** The most elements of a factor that is held whole while the other one, of plain constants, is made piece by piece. */
export const MAX_HELD = 2 ** 21;

/**
 * Returns true if a result of the term comes from constants that take much less memory than the result, or if memory
 * for the result runs out. Such factors are made piece by piece, when needed.
 */
export function isPackedFactor(step: Step, slot: number, { spreads, packs }: PackingOptions): boolean {
  const expression = termExpression(step);
  if (step.reduceType !== DType.float32 || !isConstantFactor(step, slot)) return false;
  if (spreads) return true;
  const radices = [...step.outDigits, ...step.redDigits];
  const reads = [...neededSlots(expression, [slot])].filter((needed) => needed < expression.reads.length);
  const inputs = new Set(reads.map((read) => step.inputs[expression.reads[read]!.input]!));
  const bytes = [...inputs].reduce((sum, { count, dtype }) => sum + count * dtypeBytes(dtype), 0);
  const sizeFor = (of: number): number =>
    [...neededDigits(expression, of, radices)].reduce((size, digit) => size * radices[digit]!, 1);
  if (bytes <= PACKED_BYTES * sizeFor(slot)) return true;
  const { outA, outB } = step.term;
  return packs === true && step.reduce === Reduce.dot && sizeFor(slot === outA ? outB : outA) <= MAX_HELD;
}

type PackingOptions = Pick<PlanOptions, "spreads" | "packs">;

/** Orders the terms' digits to end with a digit that has enough values for vectors. The order of terms is free. */
function inVectors(inner: readonly LoopDigit[]): LoopDigit[] {
  const last = inner.at(-1);
  const better = last !== undefined && last.radix < LANES && inner.findLast(({ radix }) => radix >= LANES);
  return better ? [...inner.filter((digit) => digit !== better), better] : [...inner];
}

/**
 * Sorts digits by the dependent factors. Digits for both factors are groups; digits for the right factor only, columns;
 * all others, rows. A sum has no right factor: all digits are rows. Digits of radix 1 are left out. Rows can be cut: a
 * packed factor becomes the left factor. Otherwise, a lone constant factor becomes the right factor.
 */
export function productLayout(step: Step, options: PackingOptions): ProductLayout {
  const isDot = step.reduce === Reduce.dot;
  const { outA, outB } = step.term;
  const packed = isDot ? [outA, outB].find((slot) => isPackedFactor(step, slot, options)) : undefined;
  const isRight = isDot && isConstantFactor(step, outA) && !isConstantFactor(step, outB);
  const swaps = packed === undefined ? isRight : packed === outB;
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
  const terms = all.filter(({ digit }) => digit >= step.outDigits.length);
  const inner = packed === undefined ? terms : inVectors(terms);
  const strides = new Array<number>(step.outDigits.length).fill(0);
  let stride = 1;
  for (const { digit, radix } of [...groups, ...rows, ...columns].reverse()) {
    strides[digit] = stride;
    stride *= radix;
  }
  return { groups, rows, columns, inner, left: leftSlot, right: isDot ? rightSlot : undefined, strides };
}
