import { tensorRoot } from "../../src/merkle/tensor.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import { programRoot } from "../../src/program/root.ts";
import type { Program, Step, TensorRef } from "../../src/program/types.ts";
import { validateProgram } from "../../src/program/validate.ts";
import type { Prng } from "../random/prng.ts";
import { randomStep } from "./randomStep.ts";

/** A model and job inputs for it. */
export type RandomModel = { model: CompiledModel; inputs: Uint8Array[] };

/**
 * A well-formed program of random steps: what a step reads is a job input, a constant, or an earlier step's tensor
 * where one fits.
 */
export function randomProgram(prng: Prng, length: number): RandomModel {
  const given = Array.from({ length }, () => randomStep(prng));
  const inputs: Uint8Array[] = [];
  const infos: Program["inputs"][number][] = [];
  const constants = new Map<`0x${string}`, Uint8Array>();
  const steps: Step[] = [];
  for (const { step, tensors } of given) {
    const refs = step.inputs.map(({ dtype, count }, n): TensorRef => {
      const earlier = steps.flatMap((other, index) =>
        other.dtype === dtype && other.count >= count
          ? [{ kind: "step" as const, index, dtype, count: other.count }]
          : [],
      );
      if (earlier.length > 0 && prng.below(2) === 0) return earlier[prng.below(earlier.length)]!;
      const bytes = tensors[n]!;
      if (prng.below(2) === 0) {
        const root = tensorRoot(bytes);
        constants.set(root, bytes);
        return { kind: "constant", root, dtype, count };
      }
      infos.push({ dtype, count });
      return { kind: "input", index: inputs.push(bytes) - 1, dtype, count };
    });
    steps.push({ ...step, inputs: refs });
  }
  const last = steps.length - 1;
  const program: Program = {
    inputs: infos,
    steps,
    checkpoints: [{ first: 0, step: last }],
    outputs: [0],
    maxStepGas: 1,
  };
  validateProgram(program);
  const model: CompiledModel = {
    program,
    programRoot: programRoot(program),
    constants,
    inputs: infos.map(({ dtype, count }, i) => ({ name: `input${i}`, dtype, shape: [count] })),
    outputs: [{ name: "output", dtype: steps[last]!.dtype, shape: [steps[last]!.count] }],
    origins: steps.map((_, i) => ({ node: `step${i}`, operator: "random" })),
  };
  return { model, inputs };
}
