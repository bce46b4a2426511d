import { expect } from "chai";
import { startChainVerifier, type ChainVerifier } from "../../src/examine/audit/chainVerifier.ts";
import { DEFAULT_STEP_BYTES, MAX_STEP_GAS } from "../../src/program/limits.ts";
import { CATALOGUE } from "../../testkit/models/catalogue.ts";
import { examine } from "../../testkit/models/examine.ts";
import { createCallChain } from "../../testkit/verifier/callChain.ts";

describe("every model of the catalogue", function () {
  this.timeout(300_000);
  let verifier: ChainVerifier;
  before(async () => void (verifier = await startChainVerifier(createCallChain)));
  after(() => verifier.close());

  for (const one of CATALOGUE)
    it(`${one.name}_agreesWithOnnxruntime_andAuditsClean`, async () => {
      // One of every kind of step and every operator is drawn in any case.
      const { audit, comparison, model } = await examine(one, verifier, 1);
      expect(comparison.firstDifferent).to.equal(undefined);
      for (const output of comparison.outputs)
        expect(output).to.include({ first: undefined }).and.not.have.any.keys("shape");
      expect(audit.disagreements).to.deep.equal([]);
      expect(audit.clean).to.equal(true);
      expect(audit.underestimated).to.deep.equal([]);
      expect(model.program.maxStepGas).to.be.at.most(MAX_STEP_GAS);
      expect(model.program.maxStepBytes).to.be.at.most(DEFAULT_STEP_BYTES);
    });
});
