import { expect } from "chai";
import fc from "fast-check";
import type { Word } from "../../src/numerics/dtype.ts";
import * as float32 from "../../src/numerics/float32.ts";
import { exactDot, exactDotFloat32, ExactSum, exactSum, SumFlag } from "../../src/numerics/exactSum.ts";
import { float32Bits, float32BitsPair } from "../../testkit/numerics/float32Words.ts";
import { Prng } from "../../testkit/random/prng.ts";
import { nearestFloat32 } from "../../testkit/numerics/nearestFloat32.ts";

/** The sum of float64 values by another way: exact integers over 2^-298, and the nearest float32 found by search. */
function sumByIntegers(values: readonly number[]): Word {
  if (values.some(Number.isNaN) || (values.includes(Infinity) && values.includes(-Infinity))) return float32.NAN;
  if (values.includes(Infinity)) return float32.INFINITY_;
  if (values.includes(-Infinity)) return float32.NEG_INFINITY;
  const total = values.reduce((sum, value) => sum + BigInt(value * 2 ** 298), 0n);
  return nearestFloat32(total < 0n, { mantissa: total < 0n ? -total : total, exponent: -298 });
}

/** A finite pattern most of the time: with many terms one NaN would decide everything. */
function finiteBits(prng: Prng): number {
  const bits = float32Bits(prng);
  return (bits & 0x7f800000) === 0x7f800000 && prng.below(64) !== 0 ? bits & 0xbfffffff : bits;
}

/** Two lists of float32 bits whose products cancel, tie and span all exponents. */
function dotOperands(prng: Prng, terms: number): [number[], number[]] {
  const a: number[] = [];
  const b: number[] = [];
  const narrow = prng.below(2) === 0;
  while (a.length < terms) {
    let [x, y] = prng.below(2) === 0 ? float32BitsPair(prng) : [finiteBits(prng), finiteBits(prng)];
    if (narrow) [x, y] = [(x & 0x87ffffff) | 0x38000000, (y & 0x87ffffff) | 0x38000000];
    if (prng.below(200) !== 0) {
      if ((x & 0x7f800000) === 0x7f800000) x &= 0xbfffffff;
      if ((y & 0x7f800000) === 0x7f800000) y &= 0xbfffffff;
    }
    a.push(x >>> 0);
    b.push(y >>> 0);
    if (prng.below(2) === 0 && a.length < terms) {
      a.push((x ^ 0x80000000) >>> 0); // cancels the term, or nearly
      b.push((y ^ prng.pick([0, 0, 1, 2])) >>> 0);
    }
  }
  return [a, b];
}

const words = (bits: readonly number[]): Word[] => bits.map(BigInt);
const value = (bits: number): number => float32.toNumber(BigInt(bits));

const anyWord = fc.integer({ min: 0, max: 0xffffffff }).map((seed) => BigInt(finiteBits(new Prng(seed))));
const anyWords = fc.array(anyWord, { maxLength: 40 });
const anyPairs = fc.array(fc.tuple(anyWord, anyWord), { maxLength: 40 });

describe("exact sums and dot products", () => {
  it("exactSum is the real sum rounded once", () => {
    const prng = new Prng(10);
    for (let n = 0; n < 4000; n++) {
      const bits = Array.from({ length: prng.below(40) }, () => finiteBits(prng));
      for (const x of [...bits]) if (prng.below(2) === 0) bits.push((x ^ 0x80000000) >>> 0);
      expect(exactSum(words(bits))).to.equal(sumByIntegers(bits.map(value)));
    }
  });

  it("exactDot and exactDotFloat32 are the real dot product rounded once", () => {
    const prng = new Prng(11);
    for (let n = 0; n < 4000; n++) {
      const [a, b] = dotOperands(prng, prng.below(50));
      const expected = sumByIntegers(a.map((x, k) => value(x) * value(b[k]!))); // products are exact in float64
      expect(exactDot(words(a), words(b))).to.equal(expected);
      expect(exactDotFloat32(Uint32Array.from(a), 0, Uint32Array.from(b), 0, a.length)).to.equal(Number(expected));
    }
  });

  it("exactDotFloat32 equals exactDot on long rows and inside larger arrays", () => {
    const prng = new Prng(12);
    for (let n = 0; n < 20; n++) {
      const [a, b] = dotOperands(prng, 3000);
      const terms = 2900;
      const got = exactDotFloat32(Uint32Array.from(a), 57, Uint32Array.from(b), 3, terms);
      expect(got).to.equal(Number(exactDot(words(a.slice(57, 57 + terms)), words(b.slice(3, 3 + terms)))));
    }
  });

  it("exactDotFloat32 holds terms of one sign at both ends of the range", () => {
    for (const bits of [0x7f7fffff, 0x00000001, 0x007fffff, 0x3f7fffff]) {
      const a = new Uint32Array(5000).fill(bits);
      const list = words([...a]);
      expect(exactDotFloat32(a, 0, a, 0, a.length)).to.equal(Number(exactDot(list, list)));
    }
  });

  it("exactDotFloat32 refuses terms outside the arrays", () => {
    const a = new Uint32Array(4);
    expect(() => exactDotFloat32(a, 2, a, 0, 3)).to.throw(RangeError, "not all inside");
    expect(() => exactDotFloat32(a, -1, a, 0, 3)).to.throw(RangeError, "not all inside");
    expect(() => exactDot([0n], [])).to.throw(RangeError, "one length");
  });

  it("no order of the terms changes a sum", () => {
    fc.assert(
      fc.property(anyPairs, fc.infiniteStream(fc.nat()), (pairs, keys) => {
        const shuffled = pairs
          .map((pair) => ({ pair, key: keys.next().value as number }))
          .sort((p, q) => p.key - q.key);
        const mixed = shuffled.map(({ pair }) => pair);
        const dot = (list: [Word, Word][]): Word =>
          exactDot(
            list.map(([a]) => a),
            list.map(([, b]) => b),
          );
        expect(dot(mixed)).to.equal(dot(pairs));
        expect(exactSum(mixed.map(([a]) => a))).to.equal(exactSum(pairs.map(([a]) => a)));
      }),
      { numRuns: 500 },
    );
  });

  it("a sum may be split anywhere", () => {
    fc.assert(
      fc.property(anyPairs, fc.nat(), (pairs, seed) => {
        const cut = seed % (pairs.length + 1);
        const part = (list: [Word, Word][]): ExactSum => {
          const sum = new ExactSum();
          for (const [a, b] of list) sum.addProduct(a, b);
          return sum;
        };
        const left = part(pairs.slice(0, cut));
        const right = part(pairs.slice(cut));
        left.addSum(right);
        expect(left).to.deep.equal(part(pairs));
        expect(left.round()).to.equal(part(pairs).round());
      }),
      { numRuns: 500 },
    );
  });

  it("a sum is the dot product with ones, and of two terms the float32 addition", () => {
    fc.assert(
      fc.property(anyWords, (list) => {
        const ones = list.map(() => float32.ONE);
        expect(exactSum(list)).to.equal(exactDot(list, ones));
        const [a = 0n, b = 0n] = list;
        expect(exactSum([a, b])).to.equal(float32.add(a, b));
        expect(exactDot([a], [b])).to.equal(float32.mul(a, b));
      }),
      { numRuns: 500 },
    );
  });

  it("an empty sum is +0, infinities of both signs are NaN, 0 * Infinity is NaN", () => {
    const sum = new ExactSum();
    expect(sum.round()).to.equal(float32.ZERO);
    sum.add(float32.INFINITY_);
    expect(sum.round()).to.equal(float32.INFINITY_);
    sum.add(float32.NEG_INFINITY);
    expect(sum.flags).to.equal(SumFlag.positiveInfinity | SumFlag.negativeInfinity);
    expect(sum.round()).to.equal(float32.NAN);
    expect(exactDot([float32.ZERO], [float32.INFINITY_])).to.equal(float32.NAN);
    expect(exactDot([float32.NEG_ONE, float32.ONE], [float32.INFINITY_, float32.NEG_INFINITY])).to.equal(
      float32.NEG_INFINITY,
    );
  });

  it("partial sums past the largest float32 do not matter", () => {
    const largest = 0x7f7fffffn;
    expect(exactSum([largest, largest, 0xff7fffffn])).to.equal(largest);
    expect(exactSum([largest, largest])).to.equal(float32.INFINITY_);
  });
});
