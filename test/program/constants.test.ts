import { expect } from "chai";
import { tensorRoot } from "../../src/program/merkle/tensor.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { constantBytes } from "../../src/program/constants.ts";
import { ProgramFormatError } from "../../src/program/errors.ts";

const ref = (bytes: Uint8Array, count: number) =>
  ({ kind: "constant", root: tensorRoot(bytes), dtype: DType.uint8, count }) as const;

describe("constantBytes", () => {
  it("constants_thatDifferInTrailingZeros_shareARootAndAreReadAtTheirOwnSize", () => {
    const short = Uint8Array.of(1);
    const long = Uint8Array.of(1, 0, 0);
    expect(tensorRoot(short)).to.equal(tensorRoot(long));
    for (const held of [short, long]) {
      const constants = new Map([[tensorRoot(held), held]]);
      expect(constantBytes(constants, ref(held, 1))).to.deep.equal(short);
      expect(constantBytes(constants, ref(held, 3))).to.deep.equal(long);
    }
  });

  it("constant_missingOrOfAnotherSize_throws", () => {
    const held = Uint8Array.of(1);
    expect(() => constantBytes(new Map(), ref(held, 1))).to.throw(ProgramFormatError, "compile the model again");
    expect(() => constantBytes(new Map([[tensorRoot(held), held]]), ref(held, 600))).to.throw(ProgramFormatError);
  });
});
