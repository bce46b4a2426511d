import { expect } from "chai";
import { isZeros, tensorRoot, zeroRoot } from "../../../src/program/merkle/tensor.ts";

describe("tensors of zeros", () => {
  for (const length of [1, 511, 512, 513, 1_024, 1_025, 1_537, 2_560, 65_536, 65_537, 200_000, 512 * 1_023 + 1])
    it(`zeroRoot_of${length}Bytes_isTheRootOfTheirTree`, () => {
      expect(zeroRoot(length)).to.equal(tensorRoot(new Uint8Array(length)));
    });

  it("isZeros_seesEachByte_whereverTheTensorLies", () => {
    for (const offset of [0, 1, 2, 4, 7])
      for (const length of [0, 1, 3, 4, 5, 9, 16]) {
        const bytes = new Uint8Array(32).fill(255);
        const tensor = bytes.subarray(offset, offset + length).fill(0);
        expect(isZeros(tensor)).to.equal(true);
        for (let k = 0; k < length; k++) {
          tensor[k] = 1;
          expect(isZeros(tensor), `byte ${k} of ${length} at ${offset}`).to.equal(false);
          tensor[k] = 0;
        }
      }
  });
});
