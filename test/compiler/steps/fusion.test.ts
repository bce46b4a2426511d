import { DType } from "../../../src/numerics/dtype.ts";
import { floatTensor, int64Tensor } from "../../../src/model/onnx/tensorData.ts";
import { floatGraph } from "../../../testkit/graphs/floatGraphs.ts";
import { expectAgreement } from "../../../testkit/onnx/agreement.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import type { NodeSpec } from "../../../testkit/onnx/onnxBuilder.ts";
import { RandomTensors } from "../../../testkit/random/tensors.ts";

describe("fusion", () => {
  for (let seed = 1; seed <= 60; seed++) {
    it(`randomGraph${seed}_agreesWithOnnxruntime`, async () => {
      const experiment = floatGraph(new RandomTensors(new Prng(seed * 7919)), 13 + 4 * (seed % 2), 14);
      const what = experiment.nodes.map((n) => `${n.outputs.join()} = ${n.op}(${n.inputs.join()})`).join("; ");
      await expectAgreement(experiment, what);
    });
  }

  it("scatteredReductions_agree", async () => {
    const r = new RandomTensors(new Prng(11));
    const nodes: NodeSpec[] = [
      { op: "ReduceSum", inputs: ["x", "c"], outputs: ["s"] },
      { op: "MatMul", inputs: ["w", "x"], outputs: ["p"] },
      { op: "Relu", inputs: ["x"], outputs: ["y"] },
    ];
    const operands = { x: r.float([200, 300]), w: r.float([2, 200], -0.25, 0.25) };
    const outputs = { s: DType.float32, p: DType.float32, y: DType.float32 };
    await expectAgreement({ operands, initializers: { c: int64Tensor([0]) }, nodes, outputs, atol: 1e-4 }, "scattered");
  });

  it("longElementwiseChain_isSplitAcrossSteps", async () => {
    const nodes = Array.from({ length: 150 }, (_, k): NodeSpec => ({
      op: k % 2 ? "Tanh" : "Add",
      inputs: k % 2 ? [`v${k}`] : [`v${k}`, `c${k}`],
      outputs: [`v${k + 1}`],
    }));
    const initializers = Object.fromEntries(
      nodes.flatMap((n, k) => (k % 2 ? [] : [[`c${k}`, floatTensor([k / 150, 0.25, 0.5])] as const])),
    );
    await expectAgreement(
      { operands: { v0: floatTensor([0.5, 0.25, -1]) }, initializers, nodes, outputs: { v150: DType.float32 } },
      "chain",
    );
  });
});
