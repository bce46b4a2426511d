import { expect } from "chai";
import { compile } from "../../src/compiler/compile.ts";
import { createExecutor } from "../../src/executor/onnx/createExecutor.ts";
import { onnxEngine } from "../../src/executor/onnx/onnxEngine.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { readModel } from "../../src/onnx/readModel.ts";
import { modelOf } from "../../test-support/agreement.ts";
import { Prng } from "../../test-support/float32Words.ts";
import { ATTENTION_CASES } from "../../test-support/operators/attentionCases.ts";
import { MICROSOFT_CASES } from "../../test-support/operators/microsoftCases.ts";
import { QUANTISED_CASES } from "../../test-support/operators/quantisedCases.ts";
import { RandomTensors } from "../../test-support/randomTensors.ts";

describe("quantised and fused operators, fast", () => {
  const groups = { ...QUANTISED_CASES, ...ATTENTION_CASES };
  const microsoft = Object.entries(MICROSOFT_CASES).map(([name, makers]) => [`com.microsoft.${name}`, makers] as const);
  let engine: Awaited<ReturnType<typeof onnxEngine>>;
  before(async () => (engine = await onnxEngine(1)));
  after(() => engine.close());

  for (const [operator, makers] of [...Object.entries(groups), ...microsoft]) {
    it(`${operator}_isBitEqualToReference`, async () => {
      const random = new RandomTensors(new Prng(5));
      for (const make of makers) {
        const experiment = make(random);
        const model = compile(readModel(modelOf(experiment)), { shapes: {} });
        const inputs = model.inputs.map(({ name }) => experiment.operands[name]!.bytes);
        const executor = await createExecutor(model, { engine, leastEngineWork: 0 });
        const { tensors } = await executor.run(inputs);
        await executor.close();
        expect(tensors.map((t) => Buffer.from(t).toString("hex"))).to.deep.equal(
          executeReference(model, inputs).map((t) => Buffer.from(t).toString("hex")),
        );
      }
    });
  }
});
