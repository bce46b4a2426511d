import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { UnsupportedOperatorError } from "../../../src/compiler/errors.ts";
import { readModel } from "../../../src/onnx/readModel.ts";
import { expectAgreement, modelOf, type Experiment } from "../../../testkit/onnx/agreement.ts";
import { forestOf } from "../../../testkit/operators/mlCases.ts";

const compiled = (experiment: Experiment) => compile(readModel(modelOf(experiment)), { shapes: {} });

describe("forests", () => {
  it("aHundredTreesOfDepth8_areProvedBelow2MGas", () => {
    const { program } = compiled(forestOf(100, 8, 4, 3, 1));
    expect(program.maxStepGas).to.be.below(2_000_000);
    expect(program.steps.length).to.be.below(24);
  });

  it("aForest_agreesWithOnnxruntime", async () => {
    await expectAgreement(forestOf(20, 6, 4, 3, 30), "a forest");
  });

  it("textLabels_areRefused_withWhatToDo", () => {
    const forest = forestOf(1, 1, 2, 3, 1);
    const [node] = forest.nodes;
    const attributes = { ...node!.attributes, classlabels_strings: { strings: ["a", "b", "c"] } };
    expect(() => compiled({ ...forest, nodes: [{ ...node!, attributes }] })).to.throw(
      UnsupportedOperatorError,
      "export the model with integer labels",
    );
  });

  it("aTreeWithACycle_isRefused", () => {
    const forest = forestOf(1, 2, 2, 3, 1);
    const [node] = forest.nodes;
    const back = (node!.attributes!["nodes_truenodeids"] as readonly number[]).map((id) => (id === 0 ? 0 : 1));
    const attributes = { ...node!.attributes, nodes_truenodeids: back };
    expect(() => compiled({ ...forest, nodes: [{ ...node!, attributes }] })).to.throw("form no trees");
  });
});
