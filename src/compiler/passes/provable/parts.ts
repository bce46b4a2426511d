import { ProgramFormatError } from "../../../program/errors.ts";
import { product } from "../../../program/sums.ts";
import type { Axis, Step, TensorRef, View } from "../../../program/types.ts";
import { validateStep } from "../../../program/validate.ts";

/**
 * Steps that together compute what one step did; the last of them gives its tensor. They refer to each other by {@link
 * sibling}.
 */
export type Parts = readonly Step[];

/** A reference to the tensor of part `k`. */
export const sibling = (k: number, { dtype, count }: Pick<Step, "dtype" | "count">): TensorRef => ({
  kind: "step",
  index: -1 - k,
  dtype,
  count,
});

/** The step with its references to siblings replaced by step numbers. */
export const withStepNumbers = (step: Step, numbers: readonly number[]): Step => ({
  ...step,
  inputs: step.inputs.map((ref) =>
    ref.kind === "step" && ref.index < 0 ? { ...ref, index: numbers[-1 - ref.index]! } : ref,
  ),
});

/** One axis over row-major digits, numbered from `first`. */
export function rowMajorAxis(radices: readonly number[], digits: readonly number[] = radices.map((_, k) => k)): Axis {
  const coeffs = digits.map((digit, k) => ({ digit, coeff: product(radices.slice(k + 1)) }));
  return { extent: product(radices), stride: 1, base: 0, div: 1, coeffs };
}

/** Returns a view that reads element 0, 1, ... of an input in digit order. */
export const wholeView = (input: number, radices: readonly number[]): View => ({
  input,
  fill: 0n,
  axes: [rowMajorAxis(radices)],
});

/** Returns the inputs that some views read, and the views renumbered. */
export function readsOf(inputs: readonly TensorRef[], views: readonly View[]): { inputs: TensorRef[]; views: View[] } {
  const used = [...new Set(views.map((view) => view.input))].sort((a, b) => a - b);
  return {
    inputs: used.map((input) => inputs[input]!),
    views: views.map((view) => ({ ...view, input: used.indexOf(view.input) })),
  };
}

const MAX_COEFFICIENT = 2 ** 31;

/** Whether a step fits the encoding. */
export function isEncodable(step: Step): boolean {
  const axes = [...step.termReads, ...step.epilogueReads].flatMap((view) => view.axes);
  const fits = axes.every(
    ({ base, coeffs }) =>
      Math.abs(base) < MAX_COEFFICIENT && coeffs.every(({ coeff }) => Math.abs(coeff) < MAX_COEFFICIENT),
  );
  try {
    validateStep(step);
    return fits;
  } catch (error) {
    if (error instanceof ProgramFormatError) return false;
    throw error;
  }
}

/** Whether an axis is never out of bounds: then it bounds nothing. */
export function isInside({ base, coeffs, div, extent, indirect }: Axis, radices: readonly number[]): boolean {
  const moves = coeffs.map(({ digit, coeff }) => coeff * (radices[digit]! - 1));
  const reach = (sign: number): number => moves.reduce((sum, move) => (move * sign > 0 ? sum + move : sum), base);
  return indirect === undefined && div === 1 && reach(-1) >= 0 && reach(1) < extent;
}
