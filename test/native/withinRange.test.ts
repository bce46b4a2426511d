import { expect } from "chai";
import { areCanonicalBetween } from "../../src/native/withinRange.ts";

const bytesOf = (values: Float32Array): Uint8Array =>
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength);

describe("the pass over a box's values", () => {
  it("areCanonicalBetween_oneValueOutsideAtAnyPlace_isFalse", () => {
    // Around vectors of four values, and around the 16,384 that are looked at in one call.
    for (const length of [1, 2, 3, 4, 5, 8, 16_383, 16_384, 16_385, 40_001]) {
      const values = new Float32Array(length).fill(0.75);
      expect(areCanonicalBetween(bytesOf(values), 0.5, 1), `${length} inside`).to.equal(true);
      for (const at of new Set([0, 3, length >> 1, 16_383, 16_384, length - 2, length - 1]))
        if (at >= 0 && at < length)
          for (const outside of [0.49999997, 1.0000001, 0, -0.75, NaN, Infinity, -Infinity]) {
            values[at] = outside;
            expect(areCanonicalBetween(bytesOf(values), 0.5, 1), `${outside} at ${at} of ${length}`).to.equal(false);
            values[at] = 0.75;
          }
    }
  });

  it("areCanonicalBetween_bytesAtAnyOffset_areTheSame", () => {
    const values = bytesOf(Float32Array.of(-1, 1, 0, 0.5, -0.25));
    for (let offset = 0; offset < 4; offset++) {
      const bytes = new Uint8Array(values.length + offset).subarray(offset);
      bytes.set(values);
      expect(areCanonicalBetween(bytes, -1, 1)).to.equal(true);
      expect(areCanonicalBetween(bytes, -1, 0.75)).to.equal(false);
    }
  });

  it("areCanonicalBetween_minusZeroAndNothing_areFalseAndTrue", () => {
    expect(areCanonicalBetween(bytesOf(Float32Array.of(1, -0)), -1, 1)).to.equal(false);
    expect(areCanonicalBetween(bytesOf(Float32Array.of(0, 0)), 0, 0)).to.equal(true);
    expect(areCanonicalBetween(new Uint8Array(), 1, 2)).to.equal(true);
  });
});
