import type { Step, TensorRef } from "../../program/types.ts";

/**
 * Leaves out the steps that no output needs.
 * @returns the steps renumbered, and for each old number the new one (undefined if left out)
 */
export function keepLiveSteps(
  steps: readonly Step[],
  outputs: readonly number[],
): { steps: Step[]; renumber: (number | undefined)[] } {
  const needed = new Set(outputs);
  for (let s = steps.length - 1; s >= 0; s--)
    if (needed.has(s)) for (const ref of steps[s]!.inputs) if (ref.kind === "step") needed.add(ref.index);
  let next = 0;
  const renumber = steps.map((_, s) => (needed.has(s) ? next++ : undefined));
  const moved = (ref: TensorRef): TensorRef => (ref.kind === "step" ? { ...ref, index: renumber[ref.index]! } : ref);
  const kept = steps.filter((_, s) => needed.has(s)).map((step) => ({ ...step, inputs: step.inputs.map(moved) }));
  return { steps: kept, renumber };
}
