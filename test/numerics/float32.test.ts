import { expect } from "chai";
import * as float32 from "../../src/numerics/float32.ts";
import type { Word } from "../../src/numerics/dtype.ts";
import { EDGE_BITS, float32BitsPair } from "../../testkit/numerics/float32Words.ts";
import { Prng } from "../../testkit/random/prng.ts";

const RANDOM_PAIRS = 100_000;
const view = new DataView(new ArrayBuffer(4));

function hardwareValue(bits: number): number {
  view.setUint32(0, bits);
  return view.getFloat32(0);
}

/** The bits of the hardware's rounding to float32, with one zero and one NaN. */
function hardwareWord(value: number): Word {
  if (Number.isNaN(value)) return 0x7fc00000n;
  view.setFloat32(0, value);
  const bits = view.getUint32(0);
  return bits === 0x80000000 ? 0n : BigInt(bits);
}

/** Reads -0 as +0, as every primitive does. */
const operand = (bits: number): number => hardwareValue(bits) + 0;

function* pairs(seed: number): Generator<[number, number]> {
  for (const a of EDGE_BITS) for (const b of EDGE_BITS) yield [a, b];
  const prng = new Prng(seed);
  for (let n = 0; n < RANDOM_PAIRS; n++) yield float32BitsPair(prng);
}

function check(
  seed: number,
  name: string,
  actual: (a: Word, b: Word) => Word,
  hardware: (a: number, b: number) => Word,
): void {
  for (const [a, b] of pairs(seed)) {
    const got = actual(BigInt(a), BigInt(b));
    const want = hardware(operand(a), operand(b));
    if (got !== want)
      expect.fail(
        `${name}(0x${a.toString(16)}, 0x${b.toString(16)}) = 0x${got.toString(16)}, ` +
          `the hardware says 0x${want.toString(16)}`,
      );
  }
}

// Sums, products, quotients and roots of float32 rounded to float64 and then to float32 are rounded correctly (53 >=
// 2*24 + 2).
const binary: [keyof typeof float32, (a: number, b: number) => number][] = [
  ["add", (a, b) => a + b],
  ["sub", (a, b) => a - b],
  ["mul", (a, b) => a * b],
  ["div", (a, b) => a / b],
  ["fmod", (a, b) => a % b],
  ["min", (a, b) => Math.min(a, b)],
  ["max", (a, b) => Math.max(a, b)],
];

/** Half to even by the float64 adder; float32 values from 2^23 on are integers. */
function halfEven(value: number): number {
  const big = 1.5 * 2 ** 52;
  return Math.abs(value) < 2 ** 23 ? value + big - big : value;
}

const unary: [keyof typeof float32, (a: number) => number][] = [
  ["sqrt", (a) => Math.sqrt(a)],
  ["neg", (a) => -a],
  ["abs", (a) => Math.abs(a)],
  ["sign", (a) => Math.sign(a)],
  ["floor", (a) => Math.floor(a)],
  ["ceil", (a) => Math.ceil(a)],
  ["round", halfEven],
];

const comparisons: [keyof typeof float32, (a: number, b: number) => boolean][] = [
  ["eq", (a, b) => a === b],
  ["lt", (a, b) => a < b],
  ["le", (a, b) => a <= b],
];

describe("float32", () => {
  for (const [seed, [name, hardware]] of binary.entries()) {
    it(`${name} gives the hardware's bits`, () => {
      check(seed, name, float32[name] as (a: Word, b: Word) => Word, (a, b) => hardwareWord(hardware(a, b)));
    });
  }

  for (const [seed, [name, hardware]] of unary.entries()) {
    it(`${name} gives the hardware's bits`, () => {
      check(100 + seed, name, float32[name] as (a: Word, b: Word) => Word, (a) => hardwareWord(hardware(a)));
    });
  }

  for (const [seed, [name, hardware]] of comparisons.entries()) {
    it(`${name} orders as the hardware does`, () => {
      check(200 + seed, name, float32[name] as (a: Word, b: Word) => Word, (a, b) => (hardware(a, b) ? 1n : 0n));
    });
  }

  it("fromNumber and toNumber convert as DataView does", () => {
    for (const [bits] of pairs(300)) {
      const value = hardwareValue(bits);
      expect(Object.is(float32.toNumber(BigInt(bits)), value + 0)).to.equal(true);
      expect(float32.fromNumber(value)).to.equal(hardwareWord(value));
    }
  });

  it("isNaN and isInfinite classify every pattern; decode gives the value of a finite one", () => {
    for (const [bits] of pairs(301)) {
      const value = hardwareValue(bits);
      const word = BigInt(bits);
      expect(float32.isNaN(word)).to.equal(Number.isNaN(value));
      expect(float32.isInfinite(word)).to.equal(Math.abs(value) === Infinity);
      if (!Number.isFinite(value)) continue;
      const { negative, mantissa, exponent } = float32.decode(word);
      expect((negative ? -1 : 1) * Number(mantissa) * 2 ** exponent).to.equal(value);
    }
  });

  it("division by the one zero keeps the dividend's sign", () => {
    expect(float32.div(float32.NEG_ONE, 0x80000000n)).to.equal(float32.NEG_INFINITY);
    expect(float32.div(float32.ONE, 0x80000000n)).to.equal(float32.INFINITY_);
    expect(float32.div(0x80000000n, float32.ZERO)).to.equal(float32.NAN);
  });
});
