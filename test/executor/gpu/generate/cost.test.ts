import { expect } from "chai";
import { elementOperations } from "../../../../src/executor/gpu/generate/cost.ts";
import { DType, type DType as DTypeCode } from "../../../../src/numerics/dtype.ts";
import { Op, type OpName } from "../../../../src/program/operations.ts";
import { NO_REDUCTION } from "../../../../testkit/programs/stepModel.ts";

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
});
