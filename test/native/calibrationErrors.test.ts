import { expect } from "chai";
import type { DecidedOutput } from "../../src/model/decision/decision.ts";
import type { DecidingTensor } from "../../src/model/decision/margin.ts";
import { judge, type TensorError } from "../../src/native/calibrationErrors.ts";
import { DType } from "../../src/numerics/dtype.ts";

const OUTPUTS: DecidedOutput[] = [
  {
    name: "class",
    decisions: [{ kind: "argmax", node: "decide", operator: "ArgMax", tensors: ["logits"], axis: -1, largest: true }],
  },
];
const ERRORS: TensorError[] = [{ name: "logits", dtype: DType.float32, shape: [1, 3], relative: 1e-4, absolute: 4e-4 }];
const tensors = (values: number[], dims = [1, values.length]): ReadonlyMap<string, DecidingTensor> =>
  new Map([["logits", { dims, data: Float64Array.from(values) }]]);
/** The judgement of logits with a margin factor of 10: errors up to 1e-3 of the largest value are allowed for. */
const judged = (values: number[], dims?: number[]) => judge(OUTPUTS, ERRORS, tensors(values, dims), 10);

describe("judging native decisions", () => {
  it("judge_marginAboveTwiceTheAllowedError_isThick", () => {
    expect(judged([1, 4, 3.99]).kind).to.equal("thick");
    expect(judged([-4, -1, -1.01]).kind).to.equal("thick");
  });

  it("judge_marginOfTwiceTheAllowedErrorOrLess_isThinAndNamesTheDecision", () => {
    for (const second of [4, 3.999, 3.993]) {
      const result = judged([1, 4, second]);
      expect(result.kind, String(second)).to.equal("thin");
      if (result.kind === "thin") expect(result.reason).to.include("class: argmax (decide)");
    }
  });

  it("judge_largerFactor_makesMoreDecisionsThin", () => {
    expect(judge(OUTPUTS, ERRORS, tensors([1, 4, 3.9]), 10).kind).to.equal("thick");
    expect(judge(OUTPUTS, ERRORS, tensors([1, 4, 3.9]), 200).kind).to.equal("thin");
  });

  it("judge_errorOfZero_stillAsksForMoreThanARounding", () => {
    const none = ERRORS.map((error) => ({ ...error, relative: 0, absolute: 0 }));
    expect(judge(OUTPUTS, none, tensors([1, 4, 4 - 2 ** -21]), 1).kind).to.equal("thin");
    expect(judge(OUTPUTS, none, tensors([1, 4, 4 - 2 ** -19]), 1).kind).to.equal("thick");
  });

  it("judge_ofSmallValuesThatAreLeftOfLargeOnes_isThinByTheLargestErrorThatWasFound", () => {
    const large = ERRORS.map((error) => ({ ...error, relative: 1e-7, absolute: 64 }));
    // Relative to the largest value of now, the margin is as wide as can be.
    expect(judge(OUTPUTS, large, tensors([0, 0, 1]), 1).kind).to.equal("thin");
    expect(judge(OUTPUTS, large, tensors([0, 0, 129]), 1).kind).to.equal("thick");
    expect(judge(OUTPUTS, large, tensors([0, 0, 129]), 10).kind).to.equal("thin");
  });

  it("judge_nanInfinityAnotherShapeOrNoTensor_isThin", () => {
    for (const values of [
      [1, NaN, 3],
      [1, Infinity, 3],
      [-Infinity, 4, 3],
    ])
      expect(judged(values).kind, values.join()).to.equal("thin");
    expect(judged([1, 4, 3], [3]).kind).to.equal("thin");
    expect(judged([1, 4]).kind).to.equal("thin");
    expect(judge(OUTPUTS, ERRORS, new Map(), 10).kind).to.equal("thin");
    expect(judge(OUTPUTS, [], tensors([1, 4, 3]), 10).kind).to.equal("thin");
    // Fewer elements than the shape says: no margin can be read.
    expect(judged([1, 4], [1, 3]).kind).to.equal("thin");
  });

  it("judge_allZeros_isThin", () => {
    expect(judged([0, 0, 0]).kind).to.equal("thin");
  });

  it("judge_constantDecision_isThickIfItsTensorsAreTheSameToTheBit", () => {
    const constant = OUTPUTS.map(({ name, decisions: [decision] }) => ({
      name,
      decisions: [{ ...decision!, constant: true as const }],
    }));
    const same = ERRORS.map((error) => ({ ...error, absolute: 0, relative: 0 }));
    expect(judge(constant, same, tensors([1, 4, 4]), 10).kind).to.equal("thick");
    expect(judge(constant, ERRORS, tensors([1, 4, 4]), 10).kind).to.equal("thin");
    expect(judge(OUTPUTS, same, tensors([1, 4, 4]), 10).kind).to.equal("thin");
  });

  it("judge_outputWithoutDecisions_isThick", () => {
    expect(judge([{ name: "shape", decisions: [] }], [], new Map(), 10).kind).to.equal("thick");
  });
});
