import { expect } from "chai";
import fc from "fast-check";
import { INFINITY_, NEG_INFINITY } from "../../src/numerics/float32.ts";
import { bitLength, roundToFloat32 } from "../../src/numerics/round.ts";
import { nearestFloat32 } from "../../testkit/numerics/nearestFloat32.ts";
import { Prng } from "../../testkit/random/prng.ts";

/** A mantissa whose bits past the 24th are a tie, nearly a tie, or anything. */
function mantissaNearTie(prng: Prng): bigint {
  const tail = prng.below(200);
  const rest = prng.pick([
    0n,
    1n,
    (1n << BigInt(tail)) >> 1n,
    ((1n << BigInt(tail)) >> 1n) + 1n,
    ((1n << BigInt(tail)) >> 1n) - 1n,
    prng.bits(tail),
  ]);
  const mantissa = (prng.bits(prng.below(26)) << BigInt(tail)) + rest;
  return mantissa < 0n ? 0n : mantissa;
}

describe("roundToFloat32", () => {
  it("agrees with a search for the nearest float32 on 20,000 values at ties and edges", () => {
    const prng = new Prng(1);
    for (let n = 0; n < 20_000; n++) {
      const mantissa = mantissaNearTie(prng);
      const edge = prng.pick([-149, -126, 104, 127, 0]) - (prng.below(2) === 0 ? bitLength(mantissa) : 24);
      const exponent = edge + prng.below(7) - 3;
      const negative = prng.below(2) === 1;
      const expected = nearestFloat32(negative, { mantissa, exponent });
      expect(roundToFloat32(negative, mantissa, exponent), `${mantissa} * 2^${exponent}`).to.equal(expected);
    }
  });

  it("reads a sticky rest as any nonzero rest below the last bit", () => {
    const prng = new Prng(2);
    for (let n = 0; n < 10_000; n++) {
      const mantissa = (1n << 24n) + mantissaNearTie(prng);
      const exponent = prng.pick([-149, -126, 104, 0]) - bitLength(mantissa) + prng.below(7) - 3;
      const places = 1 + prng.below(100);
      const rest = prng.pick([1n, (1n << BigInt(places)) - 1n]);
      const exact = { mantissa: (mantissa << BigInt(places)) + rest, exponent: exponent - places };
      expect(roundToFloat32(false, mantissa, exponent, true)).to.equal(nearestFloat32(false, exact));
    }
  });

  it("does not depend on how a value is written", () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 1n << 80n }),
        fc.integer({ min: -260, max: 60 }),
        fc.nat(300),
        (mantissa, exponent, places) => {
          expect(roundToFloat32(true, mantissa << BigInt(places), exponent - places)).to.equal(
            roundToFloat32(true, mantissa, exponent),
          );
        },
      ),
    );
  });

  it("overflows from 2^128 - 2^103 on and never returns -0", () => {
    const half = (1n << 25n) - 1n;
    expect(roundToFloat32(false, half, 103)).to.equal(INFINITY_);
    expect(roundToFloat32(true, half, 103)).to.equal(NEG_INFINITY);
    expect(roundToFloat32(false, (half << 10n) - 1n, 93)).to.equal(0x7f7fffffn);
    expect(roundToFloat32(false, 1n, 1_000_000_000)).to.equal(INFINITY_);
    expect(roundToFloat32(true, 1n, -1_000_000_000)).to.equal(0n);
    expect(roundToFloat32(true, 1n, -150)).to.equal(0n);
    expect(roundToFloat32(true, 1n, -150, true)).to.equal(0x80000001n);
    expect(roundToFloat32(true, 0n, 5)).to.equal(0n);
  });
});
