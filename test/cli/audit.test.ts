import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { network } from "hardhat";
import { knownProgram } from "../../src/dispute/run/execution.ts";
import { ElementAuditor } from "../../src/examine/audit/elementAuditor.ts";
import { startChainVerifier, type ChainVerifier } from "../../src/examine/audit/chainVerifier.ts";
import { drawSamples, strataOf } from "../../src/examine/audit/draw.ts";
import { seededRandom } from "../../src/examine/audit/random.ts";
import { summarise } from "../../src/examine/audit/summary.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { Trace } from "../../src/program/trace/trace.ts";
import { refute } from "./refute.ts";
import { mlpBytes, mlpInput, mlpProgram } from "../../testkit/models/mlp.ts";

describe("refute model audit", function () {
  const { model } = mlpProgram();

  it("draw_holdsEveryKindAndOperator_andIsTheSameForASeed", () => {
    const samples = drawSamples(model, 40, seededRandom(5));
    expect(samples).to.have.length(40);
    expect(samples.map(({ stratum }) => stratum)).to.include.members([
      "dot float32",
      "max float32",
      "MatMul",
      "Add",
      "Relu",
      "Softmax",
    ]);
    for (const [stratum, steps] of strataOf(model))
      expect(steps).to.include(samples.find((sample) => sample.stratum === stratum)!.step);
    expect(drawSamples(model, 40, seededRandom(5))).to.deep.equal(samples);
    expect(drawSamples(model, 0, seededRandom(5))).to.have.length(strataOf(model).size + 1);
  });

  describe("on a chain", function () {
    let verifier: ChainVerifier;
    before(async () => void (verifier = await startChainVerifier(() => network.create())));
    after(() => verifier.close());

    it("executionWithAWrongElement_isFoundToDisagreeThere", async () => {
      const inputs = [mlpInput(1)];
      const last = model.program.steps.length - 1;
      const tensors = executeReference(model, inputs);
      const wrong = tensors[last]!;
      wrong[4 * 3] = wrong[4 * 3]! ^ 1;
      const execution = { ...knownProgram(model), inputs, trace: new Trace(model.program, tensors) };
      const auditor = new ElementAuditor(verifier, execution, seededRandom(1));
      const verdicts = [];
      for (const element of [2, 3]) verdicts.push(await auditor.judge({ step: last, element, stratum: "any" }));
      expect(verdicts.map(({ agrees }) => agrees)).to.deep.equal([true, false]);
      const summary = summarise(verdicts);
      expect(summary.clean).to.equal(false);
      expect(summary.disagreements.map(({ element }) => element)).to.deep.equal([3]);
      expect(summary.openings).to.deep.equal({ tampered: 2, caught: 2 });
      expect(summary.underestimated).to.deep.equal([]);
    });
  });

  describe("as a command", function () {
    let folder: string;
    before(() => (folder = mkdtempSync(join(tmpdir(), "refute-"))));
    after(() => rmSync(folder, { recursive: true }));

    it("exactExecution_agreesEverywhere_andAllTamperingIsCaught", async () => {
      const path = join(folder, "mlp.onnx");
      writeFileSync(path, mlpBytes());
      const { status, output } = await refute(["model", "audit", path, "--samples", "12", "--seed", "7"]);
      expect(status, output).to.equal(0);
      expect(output)
        .to.match(/12 agreements, 0 disagreements/)
        .and.match(/claims caught: 12 of 12/)
        .and.match(/largest gas: \d+/);
    });

    it("unfitNumber_isRefused", async () => {
      const { status, output } = await refute(["model", "audit", "m.onnx", "--samples", "many"]);
      expect(status).to.equal(2);
      expect(output).to.contain("--samples many: expected a whole number from 0 to 100000");
    });
  });
});
