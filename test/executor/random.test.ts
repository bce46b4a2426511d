import { expect } from "chai";
import { createExecutor, type ExecutorOptions } from "../../src/executor/onnx/createExecutor.ts";
import { onnxEngine } from "../../src/executor/onnx/onnxEngine.ts";
import type { MatMulEngine } from "../../src/executor/product/matMulEngine.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { executeStepReference } from "../../src/executor/referenceStep.ts";
import { DType, readWord } from "../../src/numerics/dtype.ts";
import { evaluateElement } from "../../src/program/evaluate.ts";
import { Reduce } from "../../src/program/types.ts";
import { Prng } from "../../test-support/float32Words.ts";
import { randomProgram } from "../../test-support/randomProgram.ts";
import { randomStep } from "../../test-support/randomStep.ts";
import { webEngine } from "../../test-support/webEngine.ts";

const PROGRAMS = 150;
const STEPS = 8;

/** By turns: as it comes, every product through the engine, terms gathered piece by piece. */
const VARIANTS: ExecutorOptions[] = [{}, { leastEngineWork: 0 }, { leastEngineWork: 0, chunkElements: 40 }];

const ENGINES: Record<string, () => Promise<MatMulEngine>> = {
  onnxruntime_oneThread: () => onnxEngine(1),
  onnxruntime_twoThreads: () => onnxEngine(2),
  onnxruntimeWeb: webEngine,
};

describe("executors on random programs", function () {
  this.timeout(120_000);

  it("referenceOfPlainDots_isTheDefinition", () => {
    const prng = new Prng(7);
    let compared = 0;
    while (compared < 60) {
      const { step, tensors } = randomStep(prng);
      const isDot = step.reduce === Reduce.dot || step.reduce === Reduce.sum;
      if (!isDot || step.reduceType !== DType.float32) continue;
      const got = executeStepReference(step, tensors);
      for (let i = 0; i < step.count; i++) {
        const read = (input: number, at: number) => readWord(tensors[input]!, at, step.inputs[input]!.dtype);
        expect(readWord(got, i, step.dtype)).to.equal(evaluateElement(step, i, read));
      }
      compared++;
    }
  });

  for (const [name, open] of Object.entries(ENGINES)) {
    it(`${name}_hasTheBitsOfTheReference_onEveryTensor`, async () => {
      const engine = await open();
      let tensors = 0;
      for (let seed = 1; seed <= PROGRAMS; seed++) {
        const { model, inputs } = randomProgram(new Prng(seed), STEPS);
        const expected = executeReference(model, inputs);
        const executor = await createExecutor(model, { engine, ...VARIANTS[seed % VARIANTS.length] });
        const got = await executor.run(inputs);
        expected.forEach((tensor, step) => {
          expect(Buffer.compare(tensor, got.tensors[step]!), `seed ${seed}, step ${step}`).to.equal(0);
          tensors++;
        });
        await executor.close();
      }
      await engine.close();
      expect(tensors).to.equal(PROGRAMS * STEPS);
    });
  }
});
