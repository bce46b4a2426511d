import { expect } from "chai";
import { compile } from "../../src/compiler/compile.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { executeBoth } from "../../testkit/models/executeBoth.ts";
import { miniLm, sentence } from "../../testkit/models/miniLm.ts";
import { runOnnxruntime } from "../../testkit/onnx/onnxruntime.ts";
import { firstDifference } from "../../src/examine/conform/tolerance.ts";

const SMALL = { layers: 2, width: 64, heads: 4, tokens: 16, hidden: 256, vocabulary: 100 };

describe("MiniLM", () => {
  // A quantised value that is rounded the other way moves the result by a step of its scale.
  for (const [name, quantised, atol] of [
    ["float32", false, 1e-5],
    ["int8", true, 0.02],
  ] as const) {
    it(`${name}_agreesWithOnnxruntime_fastIsBitEqualToReference`, async () => {
      const bytes = miniLm({ shape: SMALL, quantised });
      const inputs = sentence(SMALL);
      const model = compile(readModel(bytes), { shapes: {} });
      const given = model.inputs.map((input) => inputs.get(input.name)!.bytes);
      const reference = await executeBoth(model, given);
      const expected = (await runOnnxruntime(bytes, inputs)).get("embedding")!;
      const got = { ...model.outputs[0]!, bytes: reference.at(-1)! };
      expect(got.shape).to.deep.equal([1, SMALL.width]);
      expect(firstDifference(got, expected, { rtol: 1e-4, atol })).to.equal(undefined);
    }).timeout(60_000);
  }
});
