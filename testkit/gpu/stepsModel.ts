import type { CompiledModel } from "../../src/program/compiled.ts";
import type { Step } from "../../src/program/types.ts";
import { zeroHash, toHash } from "../../src/program/merkle/hash.ts";

/** A model of steps that do not read each other; each tensor is a checkpoint. */
export function stepsModel(steps: readonly { step: Step; tensors: Uint8Array[] }[]): {
  model: CompiledModel;
  inputs: Uint8Array[];
} {
  const inputs = steps.flatMap(({ tensors }) => tensors);
  let first = 0;
  const moved = steps.map(({ step, tensors }): Step => {
    const from = first;
    first += tensors.length;
    return {
      ...step,
      inputs: step.inputs.map(({ dtype, count }, index) => ({ kind: "input", index: from + index, dtype, count })),
    };
  });
  const model: CompiledModel = {
    program: {
      inputs: steps.flatMap(({ step }) => step.inputs.map(({ dtype, count }) => ({ dtype, count }))),
      steps: moved,
      checkpoints: moved.map((_, step) => ({ first: step, step })),
      outputs: [],
      maxStepGas: 0,
      maxStepBytes: 0,
    },
    programRoot: toHash(zeroHash(0)),
    constants: new Map(),
    inputs: [],
    outputs: [],
    origins: moved.map((_, s) => ({ node: "", operator: `step ${s}` })),
  };
  return { model, inputs };
}
