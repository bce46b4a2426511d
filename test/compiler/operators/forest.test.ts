import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { UnsupportedOperatorError } from "../../../src/compiler/errors.ts";
import { startChainVerifier } from "../../../src/examine/audit/chainVerifier.ts";
import { ElementAuditor, type Verdict } from "../../../src/examine/audit/elementAuditor.ts";
import { seededRandom } from "../../../src/examine/audit/random.ts";
import { summarise } from "../../../src/examine/audit/summary.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { knownProgram } from "../../../src/dispute/run/execution.ts";
import { Trace } from "../../../src/program/trace/trace.ts";
import { expectAgreement, modelOf, type Experiment } from "../../../testkit/onnx/agreement.ts";
import { forestOf } from "../../../testkit/operators/mlCases.ts";
import { createCallChain } from "../../../testkit/verifier/callChain.ts";

const compiled = (experiment: Experiment) => compile(readModel(modelOf(experiment)), { shapes: {} });

describe("forests", () => {
  it("aHundredTreesOfDepth8_areProvedBelow2MGas", () => {
    const { program } = compiled(forestOf(100, 8, 4, 3, 1));
    expect(program.maxStepGas).to.be.below(2_000_000);
    expect(program.steps.length).to.be.below(24);
  });

  it("aHundredTreesOfDepth8_takeTheVerifierBelow2MGas_inEveryStep", async () => {
    const experiment = forestOf(100, 8, 4, 3, 1);
    const model = compiled(experiment);
    const inputs = model.inputs.map(({ name }) => experiment.operands[name]!.bytes);
    const random = seededRandom(1);
    const verifier = await startChainVerifier(createCallChain);
    const trace = new Trace(model.program, executeReference(model, inputs));
    const auditor = new ElementAuditor(verifier, { ...knownProgram(model), inputs, trace }, random);
    const verdicts: Verdict[] = [];
    for (let step = 0; step < model.program.steps.length; step++)
      verdicts.push(await auditor.judge({ step, element: random(model.program.steps[step]!.count), stratum: "" }));
    await verifier.close();
    const { clean, largest, underestimated } = summarise(verdicts);
    expect(clean).to.equal(true);
    expect(underestimated).to.deep.equal([]);
    expect(largest.gas).to.be.below(2_000_000);
  }).timeout(60_000);

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
