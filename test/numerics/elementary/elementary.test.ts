import { expect } from "chai";
import { canonicalWord, DType, type Word } from "../../../src/numerics/dtype.ts";
import * as float32 from "../../../src/numerics/float32.ts";
import { acos } from "../../../src/numerics/elementary/acos.ts";
import { acosh } from "../../../src/numerics/elementary/acosh.ts";
import { asin } from "../../../src/numerics/elementary/asin.ts";
import { asinh } from "../../../src/numerics/elementary/asinh.ts";
import { atan } from "../../../src/numerics/elementary/atan.ts";
import { atanh } from "../../../src/numerics/elementary/atanh.ts";
import { cos } from "../../../src/numerics/elementary/cos.ts";
import { cosh } from "../../../src/numerics/elementary/cosh.ts";
import { erf } from "../../../src/numerics/elementary/erf.ts";
import { exp } from "../../../src/numerics/elementary/exp.ts";
import { expm1 } from "../../../src/numerics/elementary/expm1.ts";
import { log } from "../../../src/numerics/elementary/log.ts";
import { log1p } from "../../../src/numerics/elementary/log1p.ts";
import { pow } from "../../../src/numerics/elementary/pow.ts";
import { sigmoid } from "../../../src/numerics/elementary/sigmoid.ts";
import { sin } from "../../../src/numerics/elementary/sin.ts";
import { sinh } from "../../../src/numerics/elementary/sinh.ts";
import { tan } from "../../../src/numerics/elementary/tan.ts";
import { tanh } from "../../../src/numerics/elementary/tanh.ts";
import { applyOperation } from "../../../src/program/expression.ts";
import { Op } from "../../../src/program/operations.ts";
import {
  hardOperands,
  hardPowPairs,
  relevantOperands,
  UNIVARIATE,
  type OperandPair,
} from "../../../testkit/numerics/elementaryCases.ts";
import { float32WordPairs } from "../../../testkit/numerics/float32Words.ts";
import { buildMpfrOracle, type MpfrOracle } from "../../../testkit/numerics/mpfr/oracle.ts";
import { AT_LENGTH } from "../../../testkit/atLength.ts";

type Primitive = (a: Word, b: Word) => Word;

const RANDOM_INPUTS = AT_LENGTH ? 40_000 : 4_000;
const ARITHMETIC_INPUTS = AT_LENGTH ? 100_000 : 10_000;

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

    for (const name of UNIVARIATE) {
      const op = Op[name];
      const primitive: Primitive = (a) => applyOperation(op, DType.float32, a, 0n, 0n);
      it(`${name}_randomAndHardInputs_areCorrectlyRounded`, () => {
        expectCorrectlyRounded(
          op,
          primitive,
          hardOperands().map((a) => [a, 0n] as const),
        );
        expectCorrectlyRounded(op, primitive, canonicalPairs(float32WordPairs(op, RANDOM_INPUTS / 2)));
        expectCorrectlyRounded(op, primitive, relevantOperands(name, op, RANDOM_INPUTS / 2));
      });
    }

    it("pow_randomAndHardInputs_areCorrectlyRounded", () => {
      expectCorrectlyRounded(Op.pow, pow, hardPowPairs());
      expectCorrectlyRounded(Op.pow, pow, canonicalPairs(float32WordPairs(Op.pow, RANDOM_INPUTS / 2)));
      expectCorrectlyRounded(Op.pow, pow, relevantOperands("pow", Op.pow, RANDOM_INPUTS / 2));
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
    expect([expm1(0n), expm1(INF), expm1(NEG_INFINITY), expm1(NAN)]).to.deep.equal([0n, INF, NEG_ONE, NAN]);
    expect([log1p(0n), log1p(NEG_ONE), log1p(INF)]).to.deep.equal([0n, NEG_INFINITY, INF]);
    expect([log1p(word(-1.5)), log1p(NEG_INFINITY), log1p(NAN)]).to.deep.equal([NAN, NAN, NAN]);
  });

  it("specialValues_trigonometric_followC99", () => {
    const [quarter, half] = [word(Math.PI / 2), word(Math.PI)];
    for (const f of [sin, cos, tan]) expect([f(INF), f(NEG_INFINITY), f(NAN)]).to.deep.equal([NAN, NAN, NAN]);
    expect([sin(0n), cos(0n), tan(0n)]).to.deep.equal([0n, ONE, 0n]);
    for (const f of [asin, acos])
      for (const x of [word(1.0000001), word(-1.0000001), INF, NEG_INFINITY, NAN]) expect(f(x)).to.equal(NAN);
    expect([asin(0n), asin(ONE), asin(NEG_ONE)]).to.deep.equal([0n, quarter, word(-Math.PI / 2)]);
    expect([acos(0n), acos(ONE), acos(NEG_ONE)]).to.deep.equal([quarter, 0n, half]);
    expect([atan(0n), atan(INF), atan(NEG_INFINITY), atan(NAN)]).to.deep.equal([0n, quarter, word(-Math.PI / 2), NAN]);
  });

  it("specialValues_hyperbolic_followC99", () => {
    expect([sinh(0n), sinh(INF), sinh(NEG_INFINITY), sinh(NAN)]).to.deep.equal([0n, INF, NEG_INFINITY, NAN]);
    expect([cosh(0n), cosh(INF), cosh(NEG_INFINITY), cosh(NAN)]).to.deep.equal([ONE, INF, INF, NAN]);
    expect([asinh(0n), asinh(INF), asinh(NEG_INFINITY), asinh(NAN)]).to.deep.equal([0n, INF, NEG_INFINITY, NAN]);
    expect([acosh(ONE), acosh(INF)]).to.deep.equal([0n, INF]);
    for (const x of [0n, word(0.9999999), NEG_ONE, NEG_INFINITY, NAN]) expect(acosh(x)).to.equal(NAN);
    expect([atanh(0n), atanh(ONE), atanh(NEG_ONE)]).to.deep.equal([0n, INF, NEG_INFINITY]);
    for (const x of [word(1.0000001), word(-2), INF, NEG_INFINITY, NAN]) expect(atanh(x)).to.equal(NAN);
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
