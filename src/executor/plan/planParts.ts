import { dtypeBytes } from "../../numerics/dtype.ts";
import { Op } from "../../program/operations.ts";
import type { Constant, Instruction, Step, View } from "../../program/types.ts";
import { neededSlots, operands } from "../loops/slots.ts";
import { digitStrides } from "../splitStep.ts";

/** Below so many elements the parts would cost more than they save. */
const MIN_COUNT = 2 ** 12;

/** A step has at most 16 inputs, and joining them cuts the step's first digit into at most 16 parts. */
const MAX_PARTS = 16;

/**
 * The elements whose first digit runs from `first` to `first + radix - 1`, as a separate step, and their offset in
 * bytes within the original step's tensor.
 */
type StepPart = { first: number; radix: number; step: Step; offset: number };

/**
 * Cuts a step that joins tensors along its first digit by comparing the digit with constants and selecting. The cuts
 * lie where the comparisons change; each part reads only its own tensor.
 * @returns undefined if the step joins no tensors, or gains nothing
 */
export function partsOf(step: Step): StepPart[] | undefined {
  const radix = step.outDigits[0] ?? 1;
  if (step.count < MIN_COUNT || step.term.code.length > 0) return undefined;
  const comparisons = comparisonsOf(step);
  const bounds = [...new Set(comparisons.values())].filter((bound) => bound > 0 && bound < radix);
  if (bounds.length === 0 || bounds.length >= MAX_PARTS) return undefined;
  const starts = [0, ...bounds.toSorted((a, b) => a - b)];
  const parts = starts.map((first, k) => partFrom(step, comparisons, first, starts[k + 1] ?? radix));
  return parts.some((part) => part === undefined) ? undefined : (parts as StepPart[]);
}

/** Returns the slots that test whether the first digit lies below a number, with the number. */
function comparisonsOf({ epilogueReads, constants, epilogue }: Step): Map<number, number> {
  const firstConstant = epilogueReads.length;
  const firstInstruction = firstConstant + constants.length;
  const digits = new Set(
    epilogue.code.flatMap(({ op, a }, n) => (op === Op.digit && a === 0 ? [firstInstruction + n] : [])),
  );
  const known = (slot: number): Constant | undefined =>
    slot >= firstConstant && slot < firstInstruction ? constants[slot - firstConstant] : undefined;
  return new Map(
    epilogue.code.flatMap(({ op, a, b }, n): [number, number][] => {
      const bound = known(b);
      if (op !== Op.lt || !digits.has(a) || bound === undefined) return [];
      return [[firstInstruction + n, Number(BigInt.asIntN(64, bound.value))]];
    }),
  );
}

function partFrom(
  step: Step,
  comparisons: ReadonlyMap<number, number>,
  first: number,
  end: number,
): StepPart | undefined {
  const { epilogueReads, constants, epilogue, outDigits } = step;
  const firstInstruction = epilogueReads.length + constants.length;
  /** Returns the slot providing a slot's value in this part. */
  const shown = (slot: number): number => {
    const instruction = epilogue.code[slot - firstInstruction];
    if (slot < firstInstruction || instruction?.op !== Op.select) return slot;
    const bound = comparisons.get(instruction.a);
    return bound === undefined ? slot : shown(end <= bound ? instruction.b : instruction.c);
  };
  const code = epilogue.code.map((instruction): Instruction => {
    const [a, b, c] = [instruction.a, instruction.b, instruction.c].map(shown) as [number, number, number];
    const taken = operands(instruction).length;
    return {
      ...instruction,
      ...(taken > 0 && { a }),
      ...(taken > 1 && { b }),
      ...(taken > 2 && { c }),
    };
  });
  const result = shown(epilogue.out);
  const needed = neededSlots({ reads: epilogueReads, constants, code }, [result]);
  // The digit itself counts from the beginning of all parts.
  if (code.some(({ op, a }, n) => op === Op.digit && a === 0 && needed.has(firstInstruction + n))) return undefined;
  const [stride] = digitStrides(outDigits);
  const digits = [end - first, ...outDigits.slice(1)];
  const moved = (view: View): View => ({
    ...view,
    axes: view.axes.map((axis) => {
      const coeff = axis.coeffs.find(({ digit }) => digit === 0)?.coeff ?? 0;
      return { ...axis, base: axis.base + coeff * first };
    }),
  });
  return {
    first,
    radix: end - first,
    step: {
      ...step,
      outDigits: digits,
      count: digits.reduce((product, dim) => product * dim, 1),
      epilogueReads: epilogueReads.map(moved),
      epilogue: { code, out: result },
    },
    offset: first * stride! * dtypeBytes(step.dtype),
  };
}
