import { expect } from "chai";
import { MICROSOFT_REGISTRY } from "../../src/compiler/microsoftRegistry.ts";
import { REGISTRY } from "../../src/compiler/registry.ts";
import { expectAgreement } from "../../test-support/agreement.ts";
import { Prng } from "../../test-support/float32Words.ts";
import { CASES } from "../../test-support/operators/cases.ts";
import { MICROSOFT_ATTENTION_CASES } from "../../test-support/operators/microsoftAttentionCases.ts";
import { MICROSOFT_CASES } from "../../test-support/operators/microsoftCases.ts";
import { MICROSOFT_QUANTISED_CASES } from "../../test-support/operators/microsoftQuantisedCases.ts";
import { RandomTensors } from "../../test-support/randomTensors.ts";

const MICROSOFT = { ...MICROSOFT_CASES, ...MICROSOFT_ATTENTION_CASES, ...MICROSOFT_QUANTISED_CASES };

describe("operators against onnxruntime", () => {
  it("everyOperatorOfTheTable_hasACase", () => {
    expect(Object.keys(CASES).sort()).to.deep.equal(REGISTRY.map(([operator]) => operator).sort());
  });

  it("everyOperatorOfMicrosoft_hasACase", () => {
    expect(Object.keys(MICROSOFT).sort()).to.deep.equal(MICROSOFT_REGISTRY.map(([operator]) => operator).sort());
  });

  const microsoft = Object.entries(MICROSOFT).map(([name, makers]) => [`com.microsoft.${name}`, makers] as const);
  for (const [operator, makers] of [...Object.entries(CASES), ...microsoft]) {
    it(`${operator}_agrees`, async () => {
      const random = new RandomTensors(new Prng([...operator].reduce((sum, c) => sum * 31 + c.charCodeAt(0), 7)));
      for (const make of makers)
        for (let round = 0; round < 8; round++) {
          const experiment = make(random);
          await expectAgreement(
            experiment,
            `${operator} ${round} ${JSON.stringify(experiment.nodes.map((n) => n.attributes))}`,
          );
        }
    });
  }
});
