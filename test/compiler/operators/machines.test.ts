import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { startChainVerifier, type ChainVerifier } from "../../../src/examine/audit/chainVerifier.ts";
import { drawSamples } from "../../../src/examine/audit/draw.ts";
import { ElementAuditor, type Verdict } from "../../../src/examine/audit/elementAuditor.ts";
import { seededRandom } from "../../../src/examine/audit/random.ts";
import { summarise } from "../../../src/examine/audit/summary.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { knownProgram } from "../../../src/dispute/run/execution.ts";
import { Trace } from "../../../src/program/trace/trace.ts";
import { FITTED_MACHINES } from "../../../testkit/models/fittedMachines.ts";
import { expectAgreement, modelOf, type Experiment } from "../../../testkit/onnx/agreement.ts";
import { createCallChain } from "../../../testkit/verifier/callChain.ts";

const compiled = (experiment: Experiment) => compile(readModel(modelOf(experiment)), { shapes: {} });

/** The outputs' bytes by name. */
function outputsOf(experiment: Experiment): Map<string, ArrayBuffer> {
  const model = compiled(experiment);
  const tensors = executeReference(
    model,
    model.inputs.map(({ name }) => experiment.operands[name]!.bytes),
  );
  const { program, outputs } = model;
  return new Map(
    outputs.map(({ name }, k) => [
      name,
      Uint8Array.from(tensors[program.checkpoints[program.outputs[k]!]!.step]!).buffer,
    ]),
  );
}

describe("support vector machines fitted to tables", function () {
  this.timeout(120_000);
  let verifier: ChainVerifier;
  before(async () => void (verifier = await startChainVerifier(createCallChain)));
  after(() => verifier.close());

  for (const [name, { experiment }] of Object.entries(FITTED_MACHINES)) {
    it(`${name} agrees with onnxruntime`, () => expectAgreement(experiment, name));

    it(`${name} is audited by the verifier of the chain`, async () => {
      const model = compiled(experiment);
      const inputs = model.inputs.map((input) => experiment.operands[input.name]!.bytes);
      const random = seededRandom(1);
      const trace = new Trace(model.program, executeReference(model, inputs));
      const auditor = new ElementAuditor(verifier, { ...knownProgram(model), inputs, trace }, random);
      const verdicts: Verdict[] = [];
      for (const sample of drawSamples(model, 30, random)) verdicts.push(await auditor.judge(sample));
      const { clean, disagreements } = summarise(verdicts);
      expect(disagreements).to.deep.equal([]);
      expect(clean).to.equal(true);
    });
  }

  it("say what scikit-learn says of the rows", () => {
    const { iris, wine, setosa } = FITTED_MACHINES;
    for (const { experiment, labels } of [iris, wine])
      expect([...new BigInt64Array(outputsOf(experiment).get("label")!)].map(Number)).to.deep.equal(labels);
    expect([...new Float32Array(outputsOf(setosa.experiment).get("scores")!)]).to.deep.equal(setosa.labels);
    const probabilities = new Float32Array(outputsOf(iris.experiment).get("scores")!);
    iris.probabilities.forEach((wanted, k) => expect(probabilities[k], `number ${k}`).to.be.closeTo(wanted, 2e-4));
  });

  const refused = (attributes: object, why: string): void => {
    const { experiment } = FITTED_MACHINES.iris;
    const [node] = experiment.nodes;
    const changed = { ...experiment, nodes: [{ ...node!, attributes: { ...node!.attributes, ...attributes } }] };
    expect(() => compiled(changed)).to.throw(why);
  };

  it("with labels that are texts, or lists that do not fit, are refused by name", () => {
    const texts = { classlabels_strings: { strings: ["a", "b", "c"] } };
    refused(texts, "classlabels_strings: are texts: export the model with integer labels");
    refused({ rho: { floats: [1, 2] } }, "rho has 2 values for 3 classes and 31 support vectors");
    refused({ prob_a: { floats: [1] } }, "prob_a and prob_b have 1 and 3 values for 3 pairs");
    refused({ vectors_per_class: [31] }, "vectors_per_class names 1 classes of 3");
    refused({ post_transform: "PROBIT" }, "post_transform: is PROBIT");
  });
});
