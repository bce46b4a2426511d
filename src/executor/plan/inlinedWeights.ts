import { DType } from "../../numerics/dtype.ts";
import { accumulatorTypes } from "../../program/reduction.ts";
import { Op } from "../../program/operations.ts";
import { Reduce, type Axis, type Instruction, type Step, type TensorRef, type View } from "../../program/types.ts";
import { wholeCoordinate } from "../coordinates.ts";
import { operands } from "../loops/slots.ts";
import { digitStrides } from "../splitStep.ts";

/** A product that also computes its weights, and the replaced step's number. */
type Inlined = { step: Step; weights: number };

/**
 * Moves the weights' computation into the product reading the weights. The full weights then never occupy memory.
 * @param stepOf Returns the step that computes a tensor.
 * @returns undefined unless the step multiplies in float32, another step computes the weights from constants alone,
 *   element by element, and the product reads each weight at one place. The result may exceed the limits of a step.
 */
export function inlinedWeights(step: Step, stepOf: (ref: TensorRef) => Step | undefined): Inlined | undefined {
  // A tie of 16-bit floats needs the exact sum over terms that are read and not computed.
  if (step.reduce !== Reduce.dot || step.reduceType !== DType.float32) return undefined;
  for (const [slot, view] of step.termReads.entries()) {
    const ref = step.inputs[view.input]!;
    const weights = stepOf(ref);
    if (ref.kind !== "step" || weights === undefined || !isComputed(weights)) continue;
    const made = inlined(step, slot, weights);
    if (made !== undefined) return { step: made, weights: ref.index };
  }
  return undefined;
}

/** Whether a step computes its elements from constants alone. */
const isComputed = ({ reduce, inputs, epilogue }: Step): boolean =>
  reduce === Reduce.none && epilogue.code.length > 0 && inputs.every(({ kind }) => kind === "constant");

function inlined(step: Step, slot: number, weights: Step): Step | undefined {
  const radices = [...step.outDigits, ...step.redDigits];
  const read = step.termReads[slot]!;
  const order = readOrder(step, read, weights.count);
  if (order === undefined) return undefined;
  const own = split(
    order.map((digit) => radices[digit]!),
    weights.outDigits,
  );
  if (own === undefined) return undefined;
  const groups = radices.map((radix, digit) => own.of[order.indexOf(digit)] ?? [radix]);
  const starts = groups.map((_, digit) => groups.slice(0, digit).reduce((sum, group) => sum + group.length, 0));
  // The product's digits, starting with the slowest digit of the weights.
  const places = order.flatMap((digit) => groups[digit]!.map((_, k) => starts[digit]! + k));
  const ofStep = digitMap(groups, (digit, k) => starts[digit]! + k);
  const ends = weights.outDigits.map((_, digit) =>
    own.by.slice(0, digit).reduce((sum, group) => sum + group.length, 0),
  );
  const ofWeights = digitMap(own.by, (digit, k) => places[ends[digit]! + k]!);
  const isKept = ({ code }: { code: readonly Instruction[] }, of: readonly (readonly number[])[]): boolean =>
    code.every(({ op, a }) => op !== Op.digit || of[a]!.length === 1);
  if (!isKept(step.term, groups) || !isKept(step.epilogue, groups) || !isKept(weights.epilogue, own.by))
    return undefined;

  const [reads, constants] = [step.termReads.length, step.constants.length];
  const [moreReads, moreConstants] = [weights.epilogueReads.length, weights.constants.length];
  const firstConstant = reads - 1 + moreReads;
  const firstCode = firstConstant + constants + moreConstants;
  const slotOfWeights = (own: number): number => {
    if (own < moreReads) return reads - 1 + own;
    const afterReads = own - moreReads;
    return afterReads < moreConstants ? firstConstant + constants + afterReads : firstCode + afterReads - moreConstants;
  };
  const slotOfStep = (own: number): number => {
    if (own === slot) return slotOfWeights(weights.epilogue.out);
    if (own < reads) return own > slot ? own - 1 : own;
    const afterReads = own - reads;
    return afterReads < constants
      ? firstConstant + afterReads
      : firstCode + weights.epilogue.code.length + afterReads - constants;
  };
  const epilogueConstants = step.epilogueReads.length + accumulatorTypes(step).length + constants;
  const slotOfEpilogue = (own: number): number => (own < epilogueConstants ? own : own + moreConstants);
  const none = { shift: 0, slot: (own: number): number => own };
  return {
    ...step,
    inputs: [...step.inputs, ...weights.inputs],
    outDigits: groups.slice(0, step.outDigits.length).flat(),
    redDigits: groups.slice(step.outDigits.length).flat(),
    constants: [...step.constants, ...weights.constants],
    termReads: [
      ...step.termReads.filter((_, k) => k !== slot).map((view) => moved(view, ofStep, { shift: 0, slot: slotOfStep })),
      ...weights.epilogueReads.map((view) =>
        moved(view, ofWeights, { shift: step.inputs.length, slot: slotOfWeights }),
      ),
    ],
    term: {
      code: [
        ...weights.epilogue.code.map((each) => movedCode(each, ofWeights, slotOfWeights)),
        ...step.term.code.map((each) => movedCode(each, ofStep, slotOfStep)),
      ],
      outA: slotOfStep(step.term.outA),
      outB: slotOfStep(step.term.outB),
    },
    epilogueReads: step.epilogueReads.map((view) => moved(view, ofStep, none)),
    epilogue: {
      code: step.epilogue.code.map((each) => movedCode(each, ofStep, slotOfEpilogue)),
      out: slotOfEpilogue(step.epilogue.out),
    },
  };
}

/**
 * Returns a view's digits, slowest first, if the view reads each element of a tensor at one place; otherwise undefined.
 */
function readOrder(step: Step, view: View, count: number): number[] | undefined {
  const whole = wholeCoordinate(step, view);
  if (whole === undefined) return undefined;
  const radices = [...step.outDigits, ...step.redDigits];
  const slopes = radices.map(() => 0);
  for (const { digit, coeff } of whole.coeffs) slopes[digit]! += coeff;
  const order = radices
    .map((_, digit) => digit)
    .filter((digit) => slopes[digit] !== 0 && radices[digit]! > 1)
    .sort((a, b) => slopes[b]! - slopes[a]!);
  const strides = digitStrides(order.map((digit) => radices[digit]!));
  const size = order.reduce((product, digit) => product * radices[digit]!, 1);
  const isWhole = whole.base === 0 && size === count && order.every((digit, k) => slopes[digit] === strides[k]);
  return isWhole ? order : undefined;
}

/**
 * Splits two factorisations of a count into common digits: `of` lists the digits per digit of the first factorisation,
 * `by` per digit of the second. A digit of radix 1 has an empty list.
 */
function split(
  first: readonly number[],
  second: readonly number[],
): { of: (readonly number[])[]; by: (readonly number[])[] } | undefined {
  const of: number[][] = first.map(() => []);
  const by: number[][] = second.map(() => []);
  let [i, j] = [first.length - 1, second.length - 1];
  let [a, b] = [first[i] ?? 1, second[j] ?? 1];
  for (;;) {
    while (a === 1 && i > 0) a = first[--i]!;
    while (b === 1 && j > 0) b = second[--j]!;
    if (a === 1 || b === 1) break;
    const radix = Math.min(a, b);
    if (a % radix !== 0 || b % radix !== 0) return undefined;
    of[i]!.unshift(radix);
    by[j]!.unshift(radix);
    a /= radix;
    b /= radix;
  }
  return a === b ? { of, by } : undefined;
}

/**
 * For each old digit, the new digits, slowest first. The weight gives the old digit's change for one step of the new
 * digit.
 */
type DigitMap = readonly (readonly { digit: number; weight: number }[])[];

const digitMap = (groups: readonly (readonly number[])[], place: (digit: number, k: number) => number): DigitMap =>
  groups.map((group, digit) => {
    const strides = digitStrides(group);
    return group.map((_, k) => ({ digit: place(digit, k), weight: strides[k]! }));
  });

function moved(view: View, digits: DigitMap, { shift, slot }: { shift: number; slot: (own: number) => number }): View {
  const axis = ({ coeffs, indirect, ...rest }: Axis): Axis => ({
    ...rest,
    coeffs: coeffs.flatMap(({ digit, coeff }) =>
      digits[digit]!.map((to) => ({ digit: to.digit, coeff: coeff * to.weight })),
    ),
    ...(indirect === undefined ? {} : { indirect: slot(indirect) }),
  });
  return { ...view, input: view.input + shift, axes: view.axes.map(axis) };
}

function movedCode(instruction: Instruction, digits: DigitMap, slot: (own: number) => number): Instruction {
  const { op, a, b, c } = instruction;
  if (op === Op.digit) return { ...instruction, a: digits[a]![0]!.digit };
  const count = operands(instruction).length;
  return { ...instruction, a: slot(a), b: count > 1 ? slot(b) : b, c: count > 2 ? slot(c) : c };
}
