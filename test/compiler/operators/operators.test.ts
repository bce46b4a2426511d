import { expect } from "chai";
import { OWN_DOMAIN } from "../../../src/compiler/nodes.ts";
import { operatorKey, OPERATORS } from "../../../src/compiler/table/registry.ts";
import { AT_LENGTH } from "../../../testkit/atLength.ts";
import { expectAgreement } from "../../../testkit/onnx/agreement.ts";
import { ALL_CASES } from "../../../testkit/operators/allCases.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { RandomTensors } from "../../../testkit/random/tensors.ts";

describe("operators against onnxruntime", () => {
  it("everyOperatorOfTheTable_hasAListOfCases", () => {
    const lowered = OPERATORS.filter(
      ({ domain, use }) => domain !== OWN_DOMAIN && use !== "bodies" && use !== "rewritten",
    );
    expect(Object.keys(ALL_CASES).sort()).to.deep.equal(lowered.map(operatorKey).sort());
  });

  for (const [operator, makers] of Object.entries(ALL_CASES)) {
    it(`${operator}_agrees`, async () => {
      const random = new RandomTensors(new Prng([...operator].reduce((sum, c) => sum * 31 + c.charCodeAt(0), 7)));
      for (const make of makers)
        for (let round = 0; round < (AT_LENGTH ? 8 : 2); round++) {
          const experiment = make(random);
          await expectAgreement(
            experiment,
            `${operator} ${round} ${JSON.stringify(experiment.nodes.map((n) => n.attributes))}`,
          );
        }
    });
  }
});
