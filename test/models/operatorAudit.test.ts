import { expect } from "chai";
import { knownProgram } from "../../src/dispute/run/execution.ts";
import { ElementAuditor, type Verdict } from "../../src/examine/audit/elementAuditor.ts";
import { startChainVerifier, type ChainVerifier } from "../../src/examine/audit/chainVerifier.ts";
import { drawSamples } from "../../src/examine/audit/draw.ts";
import { seededRandom } from "../../src/examine/audit/random.ts";
import { summarise } from "../../src/examine/audit/summary.ts";
import { compile } from "../../src/compiler/compile.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { Trace } from "../../src/program/trace/trace.ts";
import { modelOf } from "../../testkit/onnx/agreement.ts";
import { Prng } from "../../testkit/random/prng.ts";
import { ALL_CASES } from "../../testkit/operators/allCases.ts";
import { experimentIn } from "../../testkit/operators/otherFloats.ts";
import { RandomTensors } from "../../testkit/random/tensors.ts";
import { createCallChain } from "../../testkit/verifier/callChain.ts";

/**
 * Every operator of the table, one experiment each: every kind of its steps is judged by the contract, and tampered
 * with.
 */
describe("operators on chain", function () {
  this.timeout(120_000);
  let verifier: ChainVerifier;
  before(async () => void (verifier = await startChainVerifier(createCallChain)));
  after(() => verifier.close());

  const inFloat64 = ["Exp", "Erf", "Gelu", "Pow", "Sigmoid", "Softmax", "Sin", "Acosh"].map((name) => {
    const [make] = ALL_CASES[name]!;
    return [`${name}_ofFloat64`, [(random: RandomTensors) => experimentIn(make!(random), DType.float64)]] as const;
  });
  for (const [operator, [make]] of [...Object.entries(ALL_CASES), ...inFloat64]) {
    // Random operators have tests of their own.
    if (make === undefined) continue;
    it(`${operator}_auditsClean`, async () => {
      const experiment = make(new RandomTensors(new Prng(17)));
      const model = compile(readModel(modelOf(experiment)), { shapes: {} });
      const inputs = model.inputs.map(({ name }) => experiment.operands[name]!.bytes);
      const random = seededRandom(3);
      const trace = new Trace(model.program, executeReference(model, inputs));
      const auditor = new ElementAuditor(verifier, { ...knownProgram(model), inputs, trace }, random);
      const verdicts: Verdict[] = [];
      for (const sample of drawSamples(model, 0, random)) verdicts.push(await auditor.judge(sample));
      const { clean, disagreements, underestimated } = summarise(verdicts);
      expect(disagreements).to.deep.equal([]);
      expect(clean).to.equal(true);
      expect(underestimated).to.deep.equal([]);
    });
  }
});
