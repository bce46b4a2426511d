import { expect } from "chai";
import { compile } from "../../src/compiler/compile.ts";
import { createExecutor } from "../../src/executor/createExecutor.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { miniLm, sentence } from "../../testkit/models/miniLm.ts";

const SHAPE = { layers: 1, width: 32, heads: 2, tokens: 8, hidden: 64, vocabulary: 50 };

describe("execution that trusts no error bound", () => {
  it("everySumInIntegers_hasTheSameBits", async () => {
    const model = compile(readModel(miniLm({ shape: SHAPE })), { shapes: {} });
    const inputs = sentence(SHAPE);
    const given = model.inputs.map(({ name }) => inputs.get(name)!.bytes);
    const options = { threads: 1, minEngineWork: 2 ** 10 };
    const trusting = await createExecutor(model, options);
    const inIntegers = await createExecutor(model, { ...options, alwaysExact: true });
    const [expected, got] = [await trusting.run(given), await inIntegers.run(given)];
    expected.tensors.forEach((tensor, step) =>
      expect(Buffer.compare(tensor, got.tensors[step]!), `step ${step}`).to.equal(0),
    );
    expect(got.stats.exact).to.equal(got.stats.elements);
    expect(got.stats.elements).to.equal(expected.stats.elements);
    await trusting.close();
    await inIntegers.close();
  });
});
