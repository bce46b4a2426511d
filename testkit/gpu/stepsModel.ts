import type { CompiledModel } from "../../src/program/compiled.ts";
import type { Step } from "../../src/program/types.ts";
import { modelOfSteps } from "../programs/stepModel.ts";

/** A model of steps that do not read each other, and the inputs of them all. */
export function stepsModel(all: readonly { step: Step; tensors: Uint8Array[] }[]): {
  model: CompiledModel;
  inputs: Uint8Array[];
} {
  let next = 0;
  const infos = all.flatMap(({ step }) => step.inputs.map(({ dtype, count }) => ({ dtype, count })));
  const steps = all.map(({ step }): Step => ({
    ...step,
    inputs: step.inputs.map(({ dtype, count }) => ({ kind: "input", index: next++, dtype, count })),
  }));
  return { model: modelOfSteps(infos, steps), inputs: all.flatMap(({ tensors }) => tensors) };
}
