import { expect } from "chai";
import { canonicalWord, DType, type Word } from "../../src/numerics/dtype.ts";
import * as float32 from "../../src/numerics/float32.ts";
import { erf } from "../../src/numerics/elementary/erf.ts";
import { exp } from "../../src/numerics/elementary/exp.ts";
import { log } from "../../src/numerics/elementary/log.ts";
import { pow } from "../../src/numerics/elementary/pow.ts";
import { sigmoid } from "../../src/numerics/elementary/sigmoid.ts";
import { tanh } from "../../src/numerics/elementary/tanh.ts";
import { Op } from "../../src/program/operations.ts";
import {
  balancedPowers,
  hardOperands,
  hardPowPairs,
  ordinaryOperands,
  type OperandPair,
} from "../../test-support/elementaryCases.ts";
import { float32WordPairs } from "../../test-support/float32Words.ts";
import { buildMpfrOracle, type MpfrOracle } from "../../test-support/mpfr/oracle.ts";

type Primitive = (a: Word, b: Word) => Word;

const UNIVARIATE = { exp, log, tanh, sigmoid, erf } as const;
const RANDOM_INPUTS = 40_000;
const ARITHMETIC_INPUTS = 100_000;

const word = (value: number): Word => float32.fromNumber(value);
const hex = (value: Word): string => `0x${value.toString(16).padStart(8, "0")}`;

const canonicalPairs = (pairs: readonly OperandPair[]): OperandPair[] =>
  pairs.map(([a, b]) => [canonicalWord(a, DType.float32), canonicalWord(b, DType.float32)]);

describe("elementary functions", () => {
  describe("against MPFR", () => {
    let mpfr: MpfrOracle;

    before(function () {
      const built = buildMpfrOracle();
      if ("missing" in built) {
        console.warn(`      ${built.missing}`);
        return this.skip();
      }
      mpfr = built;
    });
    after(() => mpfr?.close());

    const expectCorrectlyRounded = (op: number, primitive: Primitive, operands: readonly OperandPair[]): void => {
      const expected = mpfr.evaluate(op, operands);
      operands.forEach(([a, b], i) => {
        const actual = primitive(a, b);
        if (actual !== expected[i])
          expect.fail(`(${hex(a)}, ${hex(b)}) gave ${hex(actual)}, MPFR says ${hex(expected[i]!)}`);
      });
    };

    for (const [name, primitive] of Object.entries(UNIVARIATE)) {
      const op = Op[name as keyof typeof UNIVARIATE];
      it(`${name}_randomAndHardInputs_areCorrectlyRounded`, () => {
        expectCorrectlyRounded(
          op,
          primitive,
          hardOperands().map((a) => [a, 0n] as const),
        );
        expectCorrectlyRounded(op, primitive, canonicalPairs(float32WordPairs(op, RANDOM_INPUTS / 2)));
        expectCorrectlyRounded(op, primitive, ordinaryOperands(op, RANDOM_INPUTS / 2));
      });
    }

    it("pow_randomAndHardInputs_areCorrectlyRounded", () => {
      expectCorrectlyRounded(Op.pow, pow, hardPowPairs());
      expectCorrectlyRounded(Op.pow, pow, canonicalPairs(float32WordPairs(Op.pow, RANDOM_INPUTS / 2)));
      expectCorrectlyRounded(Op.pow, pow, balancedPowers(Op.pow, RANDOM_INPUTS / 2));
    });

    for (const name of ["add", "sub", "mul", "div", "sqrt"] as const) {
      it(`${name}_randomInputs_areCorrectlyRounded`, () => {
        expectCorrectlyRounded(Op[name], float32[name], canonicalPairs(float32WordPairs(Op[name], ARITHMETIC_INPUTS)));
      });
    }
  });

  const INF = float32.INFINITY_;
  const { NAN, NEG_INFINITY, NEG_ONE, ONE } = float32;

  it("specialValues_univariate_followC99", () => {
    expect([exp(0n), exp(INF), exp(NEG_INFINITY), exp(NAN)]).to.deep.equal([ONE, INF, 0n, NAN]);
    expect([log(0n), log(ONE), log(INF), log(NEG_ONE), log(NEG_INFINITY), log(NAN)]).to.deep.equal([
      NEG_INFINITY,
      0n,
      INF,
      NAN,
      NAN,
      NAN,
    ]);
    expect([tanh(0n), tanh(INF), tanh(NEG_INFINITY), tanh(NAN)]).to.deep.equal([0n, ONE, NEG_ONE, NAN]);
    expect([sigmoid(0n), sigmoid(INF), sigmoid(NEG_INFINITY), sigmoid(NAN)]).to.deep.equal([word(0.5), ONE, 0n, NAN]);
    expect([erf(0n), erf(INF), erf(NEG_INFINITY), erf(NAN)]).to.deep.equal([0n, ONE, NEG_ONE, NAN]);
  });

  it("pow_specialValues_followC99", () => {
    const cases: [number, number, number][] = [
      [NaN, 0, 1],
      [1, NaN, 1],
      [NaN, 1, NaN],
      [2, NaN, NaN],
      [0, 0, 1],
      [Infinity, 0, 1],
      [0, -1, Infinity],
      [0, -2.5, Infinity],
      [0, -Infinity, Infinity],
      [0, 3, 0],
      [0, 0.5, 0],
      [0, Infinity, 0],
      [-1, Infinity, 1],
      [-1, -Infinity, 1],
      [2, Infinity, Infinity],
      [2, -Infinity, 0],
      [0.5, Infinity, 0],
      [-0.5, -Infinity, Infinity],
      [Infinity, 0.1, Infinity],
      [Infinity, -0.1, 0],
      [-Infinity, 3, -Infinity],
      [-Infinity, 2, Infinity],
      [-Infinity, 0.5, Infinity],
      [-Infinity, -3, 0],
      [-Infinity, -2, 0],
      [-2, 0.5, NaN],
      [-2, 3, -8],
      [-2, 2, 4],
      [-2, 2 ** 24, Infinity],
      [-2, 129, -Infinity],
      [-2, -151, 0],
      [-1, 2 ** 23 + 1, -1],
      [-1, 2 ** 24, 1],
    ];
    for (const [x, y, expected] of cases) expect(pow(word(x), word(y)), `${x}^${y}`).to.equal(word(expected));
  });

  it("pow_exactMidpoint_roundsToEven", () => {
    expect(pow(word(4097), word(2))).to.equal(word(16785408)); // 16785409 lies between 16785408 and 16785410
    expect(pow(word(2), word(-150))).to.equal(0n);
    expect(pow(word(2), word(-149))).to.equal(1n);
  });
});
