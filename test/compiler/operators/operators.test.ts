import { expect } from "chai";
import { MICROSOFT_REGISTRY } from "../../../src/compiler/operators/microsoft/registry.ts";
import { ML_REGISTRY } from "../../../src/compiler/operators/ml/registry.ts";
import { REGISTRY } from "../../../src/compiler/operators/registry.ts";
import { expectAgreement } from "../../../testkit/onnx/agreement.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { CASES } from "../../../testkit/operators/cases.ts";
import { MICROSOFT_ATTENTION_CASES } from "../../../testkit/operators/microsoftAttentionCases.ts";
import { MICROSOFT_CASES } from "../../../testkit/operators/microsoftCases.ts";
import { ML_CASES } from "../../../testkit/operators/mlCases.ts";
import { MICROSOFT_QUANTISED_CASES } from "../../../testkit/operators/microsoftQuantisedCases.ts";
import { RandomTensors } from "../../../testkit/random/tensors.ts";

const MICROSOFT = { ...MICROSOFT_CASES, ...MICROSOFT_ATTENTION_CASES, ...MICROSOFT_QUANTISED_CASES };

describe("operators against onnxruntime", () => {
  it("everyOperatorOfTheTable_hasACase", () => {
    expect(Object.keys(CASES).sort()).to.deep.equal(REGISTRY.map(({ operator }) => operator).sort());
  });

  it("everyOperatorOfMicrosoft_hasACase", () => {
    expect(Object.keys(MICROSOFT).sort()).to.deep.equal(MICROSOFT_REGISTRY.map(({ operator }) => operator).sort());
  });

  it("everyOperatorOfMl_hasACase", () => {
    expect(Object.keys(ML_CASES).sort()).to.deep.equal(ML_REGISTRY.map(({ operator }) => operator).sort());
  });

  const ml = Object.entries(ML_CASES).map(([name, makers]) => [`ai.onnx.ml.${name}`, makers] as const);
  const microsoft = Object.entries(MICROSOFT).map(([name, makers]) => [`com.microsoft.${name}`, makers] as const);
  for (const [operator, makers] of [...Object.entries(CASES), ...ml, ...microsoft]) {
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
