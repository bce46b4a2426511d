import type { CompiledModel, TensorInfo } from "../../../program/compiled.ts";
import type { InputSource, Step, TensorRef } from "../../../program/types.ts";
import { keepLiveSteps } from "../liveSteps.ts";

/** A draft's input; `carried` is the source step if the input is carried. */
type DraftInput = TensorInfo & { source: InputSource["kind"]; carried?: number | undefined };

/** A program before its steps are made provable. */
export type Draft = {
  steps: readonly Step[];
  /** For each step, the node and the operators behind the step. */
  origins: CompiledModel["origins"];
  inputs: readonly DraftInput[];
  /** The outputs with their steps; `each` if every item of a run has the output. */
  outputs: readonly (TensorInfo & { step: number; each: boolean })[];
};

/** The steps that outputs and carried inputs come from. */
export const keptSteps = ({ inputs, outputs }: Draft): number[] => [
  ...outputs.map(({ step }) => step),
  ...inputs.flatMap(({ carried }) => (carried === undefined ? [] : [carried])),
];

/** Leaves out the steps that no output needs. @returns the draft, and the remaining steps' new numbers */
export function liveSteps(draft: Draft): { draft: Draft; renumber: readonly (number | undefined)[] } {
  const { steps, renumber } = keepLiveSteps(draft.steps, keptSteps(draft));
  const origins = draft.origins.filter((_, s) => renumber[s] !== undefined);
  const inputs = draft.inputs.map((input) =>
    input.carried === undefined ? input : { ...input, carried: renumber[input.carried] },
  );
  const outputs = draft.outputs.map((output) => ({ ...output, step: renumber[output.step]! }));
  return { draft: { steps, origins, inputs, outputs }, renumber };
}

/** Leaves out unneeded steps, then unread inputs. */
export function withoutUnused(whole: Draft): Draft {
  const { draft } = liveSteps(whole);
  const refs = draft.steps.flatMap(({ inputs }) => inputs);
  const read = new Set(refs.map((ref) => (ref.kind === "input" ? ref.index : undefined)));
  const inputs = draft.inputs.filter((_, k) => read.has(k));
  const numbers = draft.inputs.map((input) => inputs.indexOf(input));
  const moved = (ref: TensorRef): TensorRef => (ref.kind === "input" ? { ...ref, index: numbers[ref.index]! } : ref);
  return { ...draft, inputs, steps: draft.steps.map((step) => ({ ...step, inputs: step.inputs.map(moved) })) };
}
