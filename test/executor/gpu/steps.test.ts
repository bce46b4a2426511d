import { expect } from "chai";
import { createGpuExecutor } from "../../../src/executor/gpu/executor.ts";
import type { Gpu } from "../../../src/executor/gpu/device.ts";
import { executeStepReference } from "../../../src/executor/referenceStep.ts";
import { AT_LENGTH } from "../../../testkit/atLength.ts";
import { softwareGpu } from "../../../testkit/gpu/softwareGpu.ts";
import { stepsModel } from "../../../testkit/gpu/stepsModel.ts";
import { randomStep } from "../../../testkit/programs/randomStep.ts";
import { Prng } from "../../../testkit/random/prng.ts";

const STEPS = AT_LENGTH ? 10_000 : Number(process.env.N ?? 60);
const OF_A_PROGRAM = 20;

describe("random steps on a GPU", function () {
  this.timeout(600_000);
  let gpu: Gpu;
  before(async function () {
    gpu = await softwareGpu(this);
  });

  it("randomSteps_haveTheBitsOfTheDefinition", async () => {
    const seed = Number(process.env.SEED ?? 1);
    const prng = new Prng(seed);
    let onGpu = 0;
    for (let done = 0; done < STEPS; done += OF_A_PROGRAM) {
      const steps = Array.from({ length: OF_A_PROGRAM }, () => randomStep(prng));
      const { model, inputs } = stepsModel(steps);
      const executor = await createGpuExecutor(model, gpu, { seed });
      const { tensors } = await executor.run(inputs);
      onGpu += OF_A_PROGRAM - executor.cpuSteps.length;
      steps.forEach(({ step, tensors: sources }, s) => {
        const expected = executeStepReference(step, sources);
        const text = (): string => JSON.stringify(step, (_, v) => (typeof v === "bigint" ? `${v}n` : (v as unknown)));
        if (Buffer.compare(tensors[s]!, expected) !== 0)
          expect.fail(`step ${done + s} of seed ${seed}: ${Buffer.from(tensors[s]!).toString("hex")} ${Buffer.from(expected).toString("hex")} ${text()}`);
      });
      await executor.close();
    }
    console.log(`      ${onGpu} of ${STEPS} steps on ${gpu.facts.name}`);
  });
});
