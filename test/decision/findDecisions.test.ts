import { expect } from "chai";
import { findDecisions } from "../../src/decision/findDecisions.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { floatTensor, int64Tensor } from "../../src/onnx/tensorData.ts";
import { readModel } from "../../src/onnx/readModel.ts";
import { buildModel, type ModelSpec, type NodeSpec } from "../../testkit/onnx/onnxBuilder.ts";

const CONSTANTS = {
  w: floatTensor([1, 2, 3, 4, 5, 6, 7, 8, 9], [3, 3]),
  hundred: floatTensor([100], []),
  three: floatTensor([3], [1]),
  two: int64Tensor([2]),
  names: int64Tensor([7, 8, 9]),
};

/** What is found of the output `y` of a model with the input x, float32[2, 3], and h = MatMul(x, w). */
function found(nodes: readonly NodeSpec[], more: Partial<ModelSpec> = {}) {
  const product = { op: "MatMul", name: "product", inputs: ["x", "w"], outputs: ["h"] };
  const spec: ModelSpec = {
    inputs: [
      { name: "x", dtype: DType.float32, shape: [2, 3] },
      { name: "ids", dtype: DType.int64, shape: [2, 3] },
    ],
    outputs: [{ name: "y", dtype: DType.int64 }],
    nodes: [product, ...nodes],
    initializers: CONSTANTS,
    ...more,
  };
  return findDecisions(readModel(buildModel(spec))).outputs[0]!;
}

const node = (op: string, inputs: string[], more: Partial<NodeSpec> = {}): NodeSpec => ({
  op,
  inputs,
  outputs: ["y"],
  name: "it",
  ...more,
});

/** The decisions of a chain of nodes without the fields that all have. */
function decisions(...nodes: NodeSpec[]): unknown[] {
  const output = found(nodes);
  if (!("decisions" in output)) throw new Error(output.reason);
  return output.decisions.map(({ node: _, operator: __, ...rest }) => rest);
}

describe("findDecisions", () => {
  it("argmax_isDecidedByItsInput", () => {
    expect(found([node("ArgMax", ["h"], { attributes: { axis: -1 } })])).to.deep.equal({
      name: "y",
      decisions: [{ kind: "argmax", node: "it", operator: "ArgMax", tensors: ["h"], axis: -1, largest: true }],
    });
  });
});
