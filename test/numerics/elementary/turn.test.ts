import { expect } from "chai";
import fc from "fast-check";
import { floatValue } from "../../../src/numerics/numbers.ts";
import { cosTurn, sinTurn } from "../../../src/numerics/elementary/turn.ts";
import { melBin } from "../../../src/numerics/elementary/mel.ts";
import { floatWord } from "../../../src/numerics/numbers.ts";

describe("parts of a turn", () => {
  it("multiplesOfAnEighth_areTheirClosedForms", () => {
    const half = Math.fround(Math.SQRT1_2);
    const sines = [0, half, 1, half, 0, -half, -1, -half];
    sines.forEach((wanted, k) => {
      expect(floatValue(sinTurn(k, 8)), `sin ${k}/8`).to.equal(wanted);
      expect(floatValue(cosTurn(k, 8)), `cos ${k}/8`).to.equal(sines[(k + 2) % 8]);
    });
  });

  it("anyPart_isNextToTheHostsFunction", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), fc.nat(100_000), (n, m) => {
        // The host's function errs by some 2^-52, and its argument too.
        const angle = (2 * Math.PI * (m % n)) / n;
        expect(floatValue(sinTurn(m, n))).to.be.closeTo(Math.sin(angle), 1e-7);
        expect(floatValue(cosTurn(m, n))).to.be.closeTo(Math.cos(angle), 1e-7);
      }),
    );
  });

  it("ends_ofTheMelScale_areTheirFrequencies", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4000 }), fc.integer({ min: 0, max: 4000 }), (low, more) => {
        const [from, to] = [floatWord(low), floatWord(low + more)];
        expect(melBin(from, to, 0, 7, 513, 16000)).to.equal(Math.floor((513 * low) / 16000));
        expect(melBin(from, to, 7, 7, 513, 16000)).to.equal(Math.floor((513 * (low + more)) / 16000));
      }),
    );
  });
});
