import { expect } from "chai";
import fc from "fast-check";
import { roundsAlike } from "../../src/numerics/elementary/certificate.ts";
import { fromNumber } from "../../src/numerics/float32.ts";

describe("roundsAlike", () => {
  it("anyFiniteEstimate_certifiesOnlyWhatEveryNearbyNumberRoundsTo", () => {
    const mantissa = fc.double({ min: 1, max: 2, noNaN: true });
    const property = fc.property(
      mantissa,
      fc.integer({ min: -160, max: 130 }),
      fc.integer({ min: 10, max: 60 }),
      fc.boolean(),
      (m, e, bits, negative) => {
        const value = (negative ? -m : m) * 2 ** e;
        const error = 2 ** -bits;
        const certified = roundsAlike(value, error);
        if (certified === undefined) return;
        for (const factor of [-1, -0.5, 0, 0.5, 1])
          expect(fromNumber(value + factor * error * value)).to.equal(certified);
      },
    );
    fc.assert(property, { numRuns: 5000 });
  });

  it("estimateNextToAMidpoint_isNotCertified", () => {
    const midpoint = 1 + 2 ** -24;
    for (const value of [midpoint, midpoint * (1 + 2 ** -52), midpoint * (1 - 2 ** -52)]) {
      expect(roundsAlike(value, 2 ** -51)).to.equal(undefined);
      expect(roundsAlike(-value, 2 ** -44)).to.equal(undefined);
    }
    expect(roundsAlike(midpoint * (1 + 2 ** -40), 2 ** -44)).to.equal(fromNumber(1 + 2 ** -23));
  });

  it("underflow_givesPlusZeroAndOverflowGivesInfinity", () => {
    expect(roundsAlike(-(2 ** -151), 2 ** -44)).to.equal(0n);
    expect(roundsAlike(2 ** -150, 2 ** -44)).to.equal(undefined);
    expect(roundsAlike(-(2 ** 129), 2 ** -44)).to.equal(0xff800000n);
    expect(roundsAlike(3 * 2 ** -149, 2 ** -44)).to.equal(3n);
  });

  it("estimateThatSaysNothing_isNotCertified", () => {
    for (const value of [NaN, Infinity, -Infinity, 0, -0, 5e-324])
      expect(roundsAlike(value, 2 ** -44)).to.equal(undefined);
    for (const error of [NaN, -1, 1, Infinity]) expect(roundsAlike(1.1, error)).to.equal(undefined);
  });
});
