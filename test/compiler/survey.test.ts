import { expect } from "chai";
import { survey } from "../../src/compiler/survey.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { buildModel, type NodeSpec } from "../../testkit/onnx/onnxBuilder.ts";

const surveyOf = (nodes: readonly NodeSpec[], shape = [2, 3]) =>
  survey(
    readModel(
      buildModel({
        inputs: [{ name: "x", dtype: DType.float32, shape }],
        outputs: [{ name: "y", dtype: DType.float32 }],
        nodes,
      }),
    ),
    { shapes: {} },
  );

describe("survey", () => {
  it("modelThatCompiles_isGivenCompiled", () => {
    const { refusals, model } = surveyOf([{ op: "Relu", inputs: ["x"], outputs: ["y"] }]);
    expect(refusals).to.deep.equal([]);
    expect(model!.program.steps).to.have.length(1);
  });

  it("severalRefusals_areAllFound_withNodeAndReason", () => {
    const { refusals, unreached, model } = surveyOf([
      { op: "NoSuchOperator", name: "first", inputs: ["x"], outputs: ["a"] },
      { op: "Relu", inputs: ["a"], outputs: ["b"] },
      { op: "AlsoUnknown", name: "behind", inputs: ["b"], outputs: ["c"] },
      { op: "Relu", inputs: ["x"], outputs: ["d"] },
      { op: "Softmax", name: "beside", inputs: ["d"], outputs: ["e"], attributes: { axis: 7 } },
      { op: "Add", inputs: ["c", "e"], outputs: ["y"] },
    ]);
    expect(model).to.equal(undefined);
    expect(refusals.map(({ node, operator, code }) => [node, operator, code])).to.deep.equal([
      ["first", "NoSuchOperator", "COMPILE_UNSUPPORTED"],
      ["behind", "AlsoUnknown", "COMPILE_UNSUPPORTED"],
      ["beside", "Softmax", "COMPILE_NODE_INPUT"],
    ]);
    expect(refusals[2]!.reason).to.match(/^axis 7/);
    expect(unreached).to.equal(2);
  });

  it("refusalOfTheWholeModel_hasNoNode", () => {
    const { refusals } = surveyOf([{ op: "Relu", inputs: ["x"], outputs: ["y"] }], [0]);
    expect(refusals.map(({ node, code }) => [node, code])).to.deep.equal([["", "COMPILE_INPUT_SHAPE"]]);
  });
});
