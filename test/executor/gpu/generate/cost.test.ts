import { expect } from "chai";
import { elementOperations } from "../../../../src/executor/gpu/generate/cost.ts";
import { factorKernel, stepKernel } from "../../../../src/executor/gpu/generate/step.ts";
import { unpackingSteps } from "../../../../src/executor/gpu/unpacked.ts";
import { DType, type DType as DTypeCode } from "../../../../src/numerics/dtype.ts";
import { Op, type OpName } from "../../../../src/program/operations.ts";
import type { Step } from "../../../../src/program/types.ts";
import { axis, matMulStep, NO_REDUCTION } from "../../../../testkit/programs/stepModel.ts";

/** The cost of an element of one operation. */
const costOf = (name: OpName, dtype: DTypeCode): number =>
  elementOperations(
    {
      ...{ ...NO_REDUCTION, dtype, count: 1, outDigits: [1], inputs: [{ kind: "input", index: 0, dtype, count: 1 }] },
      epilogueReads: [{ input: 0, fill: 0n, axes: [] }],
      epilogue: { code: [{ op: Op[name], dtype, a: 0, b: 0, c: 0 }], out: 1 },
    },
    false,
  );

const [COLUMNS, TERMS, DIVISIONS] = [64, 512, 30];

/** Weights from constants of float64, after some divisions. */
const weights = (divisions: number): Step => ({
  ...{ ...NO_REDUCTION, dtype: DType.float32, count: COLUMNS * TERMS, outDigits: [COLUMNS * TERMS] },
  inputs: [{ kind: "constant", root: `0x${"0".repeat(64)}`, dtype: DType.float64, count: COLUMNS * TERMS }],
  epilogueReads: [{ input: 0, fill: 0n, axes: [axis(0, COLUMNS * TERMS, 1)] }],
  epilogue: {
    code: [
      ...Array.from({ length: divisions }, (_, k) => ({ op: Op.div, dtype: DType.float64, a: k, b: 0, c: 0 })),
      { op: Op.cast, dtype: DType.float64, a: divisions, b: DType.float32, c: 0 },
    ],
    out: divisions + 1,
  },
});

/** A product of `rows` rows that reads step 0 as weights. */
function productOf(rows: number): Step {
  const product = matMulStep(rows, TERMS, COLUMNS);
  const [left, right] = product.inputs;
  return { ...product, inputs: [left!, { kind: "step", index: 0, dtype: DType.float32, count: right!.count }] };
}

describe("the cost of a GPU's element", () => {
  it("isThatOfTheOperandsThatTakeLongest_soThatNoDispatchTakesSeconds", () => {
    // Bit by bit in 256 bits: measured at 18,000 and 5,000 operations.
    expect(costOf("div", DType.float64)).to.be.above(15_000);
    expect(costOf("sqrt", DType.float64)).to.be.above(10_000);
    expect(costOf("fmod", DType.float64)).to.be.above(5_000);
    // Kummer's series below its end at 4.
    expect(costOf("erf", DType.float32)).to.be.above(40_000);
    expect(costOf("div", DType.int64)).to.be.above(300);
    expect(costOf("add", DType.float32)).to.be.below(100);
  });

  it("countsWhatReadersUnpack_soThatTheirKernelsAreCut", () => {
    const inner = weights(DIVISIONS);
    const ofInner = elementOperations(inner, false);
    expect(ofInner).to.be.above(15_000 * DIVISIONS);
    const sources = [0, { step: inner, addresses: [4_096] }];
    const alone = stepKernel(productOf(1), sources, 0, { leastShared: Infinity });
    expect(alone.operations).to.be.above(TERMS * ofInner);
    // Lanes share an element's terms.
    const shared = stepKernel(productOf(1), sources, 0, { leastShared: 1 });
    const lanes = shared.invocations / COLUMNS;
    expect(lanes).to.be.above(1);
    expect(shared.operations).to.be.above((TERMS / lanes) * ofInner);
    const factor = (slot: number): number =>
      factorKernel(productOf(8), sources, 0, { slot, digits: [{ digit: 2, radix: TERMS }], first: 0, count: TERMS })
        .operations;
    expect(factor(1)).to.be.above(ofInner);
    // The left factor is not packed.
    expect(factor(0)).to.be.below(1_000);
  });

  it("ofAStep_decidesWhetherReadersUnpack", () => {
    const unpackedIn = (inner: Step, reader: Step, isFactored: boolean): number[] => [
      ...unpackingSteps({ steps: [inner, reader], checkpoints: [{ first: 0, step: 1 }] }, () => isFactored),
    ];
    expect(unpackedIn(weights(0), productOf(1), false)).to.deep.equal([0]);
    expect(unpackedIn(weights(DIVISIONS), productOf(1), false)).to.deep.equal([]);
    // Factors are read once, whatever the number of rows; a product's epilogue reads for each output.
    expect(unpackedIn(weights(0), productOf(8), false)).to.deep.equal([]);
    expect(unpackedIn(weights(0), productOf(8), true)).to.deep.equal([0]);
    const withEpilogue = (rows: number): Step => ({
      ...productOf(rows),
      epilogueReads: [{ input: 1, fill: 0n, axes: [axis(1, COLUMNS * TERMS, 1)] }],
      epilogue: { code: [], out: 0 },
    });
    expect(unpackedIn(weights(0), withEpilogue(4 * TERMS), true)).to.deep.equal([0]);
    expect(unpackedIn(weights(0), withEpilogue(4 * TERMS + 1), true)).to.deep.equal([]);
  });
});
