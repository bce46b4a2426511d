import { tensorRoot } from "../../src/program/merkle/tensor.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import type { Program, Step, TensorRef } from "../../src/program/types.ts";
import type { Prng } from "../random/prng.ts";
import { randomStep } from "./randomStep.ts";
import { modelOfSteps } from "./stepModel.ts";

/** A model and job inputs for it. */
export type RandomModel = { model: CompiledModel; inputs: Uint8Array[] };

/**
 * Returns a well-formed program of random steps. A step reads a job input, a constant, or an earlier step's tensor of
 * fitting type and size.
 * @param isWanted Other steps are drawn anew.
 */
export function randomProgram(prng: Prng, length: number, isWanted: (step: Step) => boolean = () => true): RandomModel {
  const given = Array.from({ length }, () => {
    for (;;) {
      const random = randomStep(prng);
      if (isWanted(random.step)) return random;
    }
  });
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
  return { model: modelOfSteps(infos, steps, constants), inputs };
}
