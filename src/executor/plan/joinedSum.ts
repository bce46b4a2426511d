import { isHalf } from "../../numerics/dtype.ts";
import { isPlainFloatSum } from "../../program/loops.ts";
import { isDot, isPartial, limbsOf } from "../../program/reduction.ts";
import { Reduce, type Axis, type Instruction, type Step } from "../../program/types.ts";
import { operands, neededDigits } from "../loops/slots.ts";
import { readsInOrder } from "./plainViews.ts";
import { termExpression } from "./productLayout.ts";
import { Op } from "../../program/operations.ts";

/**
 * Joins a total over words of exact sums with the step writing the words. The result is the sum before the split: exact
 * sums do not depend on the order.
 * @param partial The step whose tensor `total` reads.
 * @returns undefined if the two steps are not such a pair, reading every word once and in place; also undefined if
 *   the parts are faster to sum: 16-bit sums with computed terms may need the definition.
 */
export function joinedSum(partial: Step, total: Step): Step | undefined {
  const outs = total.outDigits.length;
  const view = total.termReads[total.term.outA];
  const limbDigit = partial.outDigits.length - 1;
  const blocks = partial.outDigits.slice(outs, limbDigit);
  const radices = [...partial.outDigits, ...partial.redDigits];
  const isPair =
    total.reduce === Reduce.total &&
    isPartial(partial.reduce) &&
    total.term.code.length === 0 &&
    view?.axes.length === 1 &&
    readsInOrder(view, [...total.outDigits, ...total.redDigits], partial.count) &&
    total.reduceType === partial.reduceType &&
    limbDigit >= outs &&
    partial.outDigits[limbDigit] === limbsOf(partial) &&
    total.outDigits.every((radix, digit) => radix === partial.outDigits[digit]) &&
    partial.epilogue.out === partial.epilogueReads.length;
  if (!isPair) return undefined;
  const slots = isDot(partial.reduce) ? [partial.term.outA, partial.term.outB] : [partial.term.outA];
  if (slots.some((slot) => neededDigits(termExpression(partial), slot, radices).has(limbDigit))) return undefined;
  // Removes the digit of words: later digits, those of the terms, move up.
  const moved = (digit: number): number => (digit > limbDigit ? digit - 1 : digit);
  const isUsed = (digit: number): boolean => digit !== limbDigit;
  const termReads = partial.termReads.map((read) => ({
    ...read,
    axes: read.axes.map((axis) => ({
      ...axis,
      coeffs: axis.coeffs.filter(({ digit }) => isUsed(digit)).map((c) => ({ ...c, digit: moved(c.digit) })),
    })),
  }));
  const termShift = (slot: number): number =>
    slot < partial.termReads.length + partial.constants.length ? slot : slot + total.constants.length;
  const epilogueConstants = total.epilogueReads.length + 1;
  const epilogueShift = (slot: number): number => (slot < epilogueConstants ? slot : slot + partial.constants.length);
  const code = (instruction: Instruction): Instruction =>
    instruction.op === Op.digit ? { ...instruction, a: moved(instruction.a) } : shifted(instruction, termShift);
  const dot = isDot(partial.reduce);
  const joined: Step = {
    ...total,
    inputs: [...partial.inputs, ...total.inputs],
    redDigits: [...blocks, ...partial.redDigits],
    reduce: dot ? Reduce.dot : Reduce.sum,
    reduceType: partial.reduceType!,
    constants: [...partial.constants, ...total.constants],
    termReads,
    epilogueReads: total.epilogueReads.map((read) => ({ ...read, input: read.input + partial.inputs.length })),
    term: {
      code: partial.term.code.map(code),
      outA: termShift(partial.term.outA),
      outB: dot ? termShift(partial.term.outB) : 0,
    },
    epilogue: {
      code: total.epilogue.code.map((instruction) => shifted(instruction, epilogueShift)),
      out: epilogueShift(total.epilogue.out),
    },
  };
  return isHalf(partial.reduceType!) && !isPlainFloatSum(joined) ? undefined : withoutFillers(joined);
}

/**
 * Returns the same sum without the terms that fill up the last block. A digit cut into blocks becomes whole again if
 * all reads beyond the digit give 0.
 */
function withoutFillers(step: Step): Step {
  if (step.term.code.length > 0) return step;
  const first = step.outDigits.length;
  for (let block = first; block + 1 < first + step.redDigits.length; block++) {
    const radix = radixWithoutFillers(step, block);
    if (radix === undefined) continue;
    const moved = (digit: number): number => (digit > block ? digit - 1 : digit);
    return {
      ...step,
      redDigits: step.redDigits.toSpliced(block - first, 2, radix),
      termReads: step.termReads.map((read) => ({
        ...read,
        axes: read.axes.map((axis) => ({
          ...axis,
          coeffs: axis.coeffs
            .filter(({ digit }) => digit !== block)
            .map((each) => ({ ...each, digit: moved(each.digit) })),
        })),
      })),
    };
  }
  return step;
}

/** Returns the radix of the digit formed by `block` and the next digit, if less than the product of their radices. */
function radixWithoutFillers({ termReads, outDigits, redDigits }: Step, block: number): number | undefined {
  const [blocks, length] = redDigits.slice(block - outDigits.length) as [number, number];
  const coeffOf = ({ coeffs }: Axis, digit: number): number => coeffs.find((c) => c.digit === digit)?.coeff ?? 0;
  const bounds = termReads.map(({ axes, fill }) => {
    if (fill !== 0n || axes.some((axis) => coeffOf(axis, block) !== length * coeffOf(axis, block + 1)))
      return undefined;
    const bounding = axes.find(
      (axis) => axis.div === 1 && axis.base === 0 && coeffOf(axis, block + 1) === 1 && axis.coeffs.length === 2,
    );
    return bounding?.extent;
  });
  const [bound] = bounds;
  return bound !== undefined && bound < blocks * length && bounds.every((each) => each === bound) ? bound : undefined;
}

function shifted(instruction: Instruction, shift: (slot: number) => number): Instruction {
  const count = operands(instruction).length;
  if (instruction.op === Op.digit) return instruction;
  const { a, b, c } = instruction;
  return { ...instruction, a: shift(a), b: count > 1 ? shift(b) : b, c: count > 2 ? shift(c) : c };
}
