import { DType } from "../../../../src/numerics/dtype.ts";
import type { Step, TensorRef } from "../../../../src/program/types.ts";
import { matMulStep, modelOfSteps, rowSumStep } from "../../../../testkit/programs/stepModel.ts";
import { plainStep, whole } from "./elements.ts";
import { randomTensor, type WorstSubject } from "./subject.ts";

const STEPS = 2_000;
/** The number of inputs with different sizes, making the reading steps differ. */
const SIZES = 500;

const KINDS: Readonly<Record<string, Step>> = {
  "sums of 4": rowSumStep(1, 4),
  "products of 4 x 4 x 4": matMulStep(4, 4, 4),
  "products of 32 x 16 x 32": matMulStep(32, 16, 32),
  copies: plainStep(DType.float32, [1], [[DType.float32, 1]], [whole(0, 1)]),
  "copies of float64": plainStep(DType.float64, [1], [[DType.float64, 1]], [whole(0, 1)]),
};

/** Programs of many small steps. */
export function* manySteps(): Generator<WorstSubject> {
  for (const [kind, step] of Object.entries(KINDS)) {
    const infos = Array.from({ length: SIZES }, (_, n) => ({
      dtype: step.inputs[0]!.dtype,
      count: Math.max(...step.inputs.map(({ count }) => count)) + n,
    }));
    const refOf = (index: number): TensorRef => ({ kind: "input", index, ...infos[index]! });
    const steps = Array.from({ length: STEPS }, (_, n): Step => ({
      ...step,
      // Equal steps would be copies of one another.
      inputs: step.inputs.map((_, k) => refOf((k === 0 ? n : n + Math.floor(n / SIZES)) % SIZES)),
    }));
    const inputs = infos.map(({ dtype, count }, n) => randomTensor(dtype, count, n));
    yield { name: `${STEPS} ${kind}`, model: modelOfSteps(infos, steps), inputs };
  }
}
