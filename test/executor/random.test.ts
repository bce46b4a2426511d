import { expect } from "chai";
import { createExecutor, type ExecutorOptions } from "../../src/executor/createExecutor.ts";
import { onnxEngine } from "../../src/executor/engine/onnxEngine.ts";
import type { MatMulEngine } from "../../src/executor/engine/matMulEngine.ts";
import { Team } from "../../src/executor/threads/threadPool.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { executeStepReference } from "../../src/executor/referenceStep.ts";
import { DType, readWord } from "../../src/numerics/dtype.ts";
import { evaluateElement } from "../../src/program/evaluate.ts";
import { Reduce } from "../../src/program/types.ts";
import { Prng } from "../../testkit/random/prng.ts";
import { randomProgram } from "../../testkit/programs/randomProgram.ts";
import { randomStep } from "../../testkit/programs/randomStep.ts";
import { webEngine } from "../../testkit/onnx/webEngine.ts";
import { AT_LENGTH, itInTime } from "../../testkit/atLength.ts";

const PROGRAMS = AT_LENGTH ? 150 : 15;
const STEPS = 8;

/** By turns: as it comes, every product through the engine, terms gathered piece by piece. */
const VARIANTS: ExecutorOptions[] = [{}, { minEngineWork: 0 }, { minEngineWork: 0, chunkElements: 40 }];

type Opened = { options: ExecutorOptions; close(): Promise<void> };

const onEngine = async (opened: Promise<MatMulEngine>): Promise<Opened> => {
  const engine = await opened;
  return { options: { engine }, close: () => engine.close() };
};

/** Threads that are held are started once; every step is split. */
function onThreads(threads: number): Promise<Opened> {
  const team = Team.hold(threads);
  return Promise.resolve({ options: { threads, minSplit: 0, evenly: true }, close: () => team.release() });
}

const EXECUTORS: Record<string, () => Promise<Opened>> = {
  onnxruntime_oneThread: () => onEngine(onnxEngine()),
  onnxruntime_twoThreads: () => onThreads(2),
  onnxruntime_threeThreads: () => onThreads(3),
  onnxruntimeWeb: () => onEngine(webEngine()),
};

describe("executors on random programs", function () {
  this.timeout(120_000);

  itInTime("referenceOfPlainDots_isTheDefinition", () => {
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

  for (const [name, open] of Object.entries(EXECUTORS)) {
    it(`${name}_hasTheBitsOfTheReference_onEveryTensor`, async () => {
      const opened = await open();
      let tensors = 0;
      for (let seed = 1; seed <= PROGRAMS; seed++) {
        const { model, inputs } = randomProgram(new Prng(seed), STEPS);
        const expected = executeReference(model, inputs);
        const executor = await createExecutor(model, { ...opened.options, ...VARIANTS[seed % VARIANTS.length] });
        const got = await executor.run(inputs);
        expected.forEach((tensor, step) => {
          expect(Buffer.compare(tensor, got.tensors[step]!), `seed ${seed}, step ${step}`).to.equal(0);
          tensors++;
        });
        await executor.close();
      }
      await opened.close();
      expect(tensors).to.equal(PROGRAMS * STEPS);
    });
  }
});
