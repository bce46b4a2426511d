import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { createExecutor } from "../../../src/executor/createExecutor.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { modelOf } from "../../../testkit/onnx/agreement.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { SAMPLING_CASES } from "../../../testkit/operators/samplingCases.ts";
import { EINSUM_TOP_K_RECURRENT_CASES } from "../../../testkit/operators/einsumTopKRecurrentCases.ts";
import { KNOWN_CASES } from "../../../testkit/operators/knownCases.ts";
import { LOSS_CASES } from "../../../testkit/operators/lossCases.ts";
import { ATTENTION_CASES } from "../../../testkit/operators/attentionCases.ts";
import { MICROSOFT_ATTENTION_CASES } from "../../../testkit/operators/microsoftAttentionCases.ts";
import { MICROSOFT_CASES } from "../../../testkit/operators/microsoftCases.ts";
import { MICROSOFT_QUANTISED_CASES } from "../../../testkit/operators/microsoftQuantisedCases.ts";
import { MATH_CASES } from "../../../testkit/operators/mathCases.ts";
import { QUANTISED_CASES } from "../../../testkit/operators/quantisedCases.ts";
import { SPATIAL_CASES } from "../../../testkit/operators/spatialCases.ts";
import { RandomTensors } from "../../../testkit/random/tensors.ts";

/**
 * Operators whose steps use what others do not: divided and indirect axes, the reduction `last`, long unrolled chains,
 * integers.
 */
const FAMILIES = [
  SAMPLING_CASES,
  KNOWN_CASES,
  LOSS_CASES,
  MATH_CASES,
  SPATIAL_CASES,
  EINSUM_TOP_K_RECURRENT_CASES,
  QUANTISED_CASES,
  ATTENTION_CASES,
  MICROSOFT_CASES,
  MICROSOFT_ATTENTION_CASES,
  MICROSOFT_QUANTISED_CASES,
];

describe("operators in the fast executor", () => {
  for (const [operator, makers] of FAMILIES.flatMap((family) => Object.entries(family)))
    it(`${operator}_bitsOfTheReference`, async () => {
      const random = new RandomTensors(new Prng(11));
      for (const make of makers) {
        const experiment = make(random);
        const model = compile(readModel(modelOf(experiment)), { shapes: {} });
        const inputs = model.inputs.map(({ name }) => experiment.operands[name]!.bytes);
        const executor = await createExecutor(model);
        try {
          const { tensors } = await executor.run(inputs);
          const expected = executeReference(model, inputs);
          expected.forEach((bytes, s) => expect([...tensors[s]!], `step ${s}`).to.deep.equal([...bytes]));
        } finally {
          await executor.close();
        }
      }
    });
});
