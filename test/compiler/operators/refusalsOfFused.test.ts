import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { UnsupportedOperatorError } from "../../../src/compiler/errors.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { buildModel, type IoSpec, type NodeSpec } from "../../../testkit/onnx/onnxBuilder.ts";

const float = (name: string, shape: readonly number[]): IoSpec => ({ name, dtype: DType.float32, shape });

function refusal(inputs: readonly IoSpec[], node: Omit<NodeSpec, "inputs" | "outputs">): UnsupportedOperatorError {
  const names = inputs.map(({ name }) => name);
  const bytes = buildModel({
    opset: 23,
    inputs: inputs.filter(({ name }) => name !== ""),
    outputs: [float("y", [1])],
    nodes: [{ ...node, inputs: names, outputs: ["y"], name: "node" }],
  });
  try {
    compile(readModel(bytes), { shapes: {} });
  } catch (error) {
    if (error instanceof UnsupportedOperatorError) return error;
    throw error;
  }
  throw new Error("it was compiled");
}

describe("quantised and fused operators, refused", () => {
  it("blocksThatDoNotDivideTheAxis", () => {
    const error = refusal([float("x", [2, 5]), float("s", [2, 2])], {
      op: "QuantizeLinear",
      attributes: { axis: 1, block_size: 3 },
    });
    expect([error.operator, error.node, error.attribute]).to.deep.equal(["QuantizeLinear", "node", "block_size"]);
  });

  it("quantisedTypeThatIsNotExecuted", () => {
    const error = refusal([float("x", [2]), float("s", [])], {
      op: "QuantizeLinear",
      attributes: { output_dtype: 8 },
    });
    expect([error.operator, error.attribute]).to.deep.equal(["QuantizeLinear", "output_dtype"]);
  });

  it("unknownFusedActivation", () => {
    const error = refusal([float("x", [1, 1, 3]), float("w", [1, 1, 1])], {
      op: "FusedConv",
      domain: "com.microsoft",
      attributes: { activation: "Elu" },
    });
    expect([error.operator, error.attribute]).to.deep.equal(["FusedConv", "activation"]);
  });

  it("operatorOfMicrosoftThatIsNotInTheTable", () => {
    const error = refusal([float("x", [2])], { op: "Inverse", domain: "com.microsoft" });
    expect(error.message).to.include("com.microsoft.Inverse is not in the table");
  });
});
