import { expect } from "chai";
import { cast } from "../../src/numerics/cast.ts";
import { DType, dtypeBytes, dtypeName, isSigned } from "../../src/numerics/dtype.ts";
import * as float32 from "../../src/numerics/float32.ts";
import { EDGE_BITS, float32Bits } from "../../testkit/numerics/float32Words.ts";
import { Prng } from "../../testkit/random/prng.ts";
import { INTEGER_TYPES, integerWord, integerWords } from "../../testkit/numerics/integerWords.ts";
import { nearestFloat32 } from "../../testkit/numerics/nearestFloat32.ts";

function* floats(seed: number): Generator<bigint> {
  for (const bits of EDGE_BITS) yield BigInt(bits);
  const prng = new Prng(seed);
  for (let n = 0; n < 20_000; n++) yield BigInt(float32Bits(prng));
}

const limits = (dtype: DType): [bigint, bigint] => {
  const bits = BigInt(8 * dtypeBytes(dtype));
  return isSigned(dtype) ? [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n] : [0n, 2n ** bits - 1n];
};

describe("cast", () => {
  for (const to of INTEGER_TYPES) {
    it(`float32 to ${dtypeName(to)} truncates, saturates, and takes NaN to 0`, () => {
      const [lowest, highest] = limits(to);
      for (const word of floats(to)) {
        const value = float32.toNumber(word);
        const got = cast(word, DType.float32, to);
        let want: bigint;
        if (Number.isNaN(value)) want = 0n;
        else if (value >= 2 ** 70) want = highest;
        else if (value <= -(2 ** 70)) want = lowest;
        else {
          const whole = BigInt(Math.trunc(value));
          want = whole > highest ? highest : whole < lowest ? lowest : whole;
        }
        if (got !== want) expect.fail(`${value} becomes ${got}, expected ${want}`);
      }
    });

    it(`${dtypeName(to)} to float32 rounds once`, () => {
      const prng = new Prng(to);
      for (let n = 0; n < 5_000; n++) {
        const word = integerWord(prng, to);
        const want = nearestFloat32(word < 0n, { mantissa: word < 0n ? -word : word, exponent: 0 });
        expect(cast(word, to, DType.float32)).to.equal(want);
      }
    });
  }

  it("integer to integer is modulo 2^bits", () => {
    for (const from of INTEGER_TYPES) {
      for (const to of INTEGER_TYPES) {
        const [lowest, highest] = limits(to);
        for (const word of integerWords(from)) {
          const got = cast(word, from, to);
          expect(got >= lowest && got <= highest && (got - word) % (highest - lowest + 1n) === 0n, `${word}`).to.equal(
            true,
          );
        }
      }
    }
  });

  it("anything nonzero is true, NaN included; -0 is false", () => {
    for (const word of floats(99)) {
      expect(cast(word, DType.float32, DType.bool)).to.equal(float32.toNumber(word) === 0 ? 0n : 1n);
    }
    for (const from of INTEGER_TYPES) {
      for (const word of integerWords(from)) expect(cast(word, from, DType.bool)).to.equal(word === 0n ? 0n : 1n);
    }
  });

  it("true is 1 in every type", () => {
    for (const to of [...INTEGER_TYPES, DType.bool]) {
      expect(cast(1n, DType.bool, to)).to.equal(1n);
      expect(cast(0n, DType.bool, to)).to.equal(0n);
    }
    expect(cast(1n, DType.bool, DType.float32)).to.equal(float32.ONE);
    expect(cast(0n, DType.bool, DType.float32)).to.equal(float32.ZERO);
  });

  it("float32 to float32 reads -0 as +0 and any NaN as the one", () => {
    for (const word of floats(98)) expect(cast(word, DType.float32, DType.float32)).to.equal(float32.canonical(word));
  });
});
