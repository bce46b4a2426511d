import { expect } from "chai";
import { DType, type Word } from "../../../src/numerics/dtype.ts";
import { FLOAT64 } from "../../../src/numerics/format.ts";
import { applyOperation } from "../../../src/program/expression.ts";
import { Op, type OpName } from "../../../src/program/operations.ts";
import { AT_LENGTH } from "../../../testkit/atLength.ts";
import { UNIVARIATE, type OperandPair } from "../../../testkit/numerics/elementaryCases.ts";
import {
  hardOperands64,
  hardPowPairs64,
  number64,
  relevantOperands64,
  word64,
} from "../../../testkit/numerics/elementaryCases64.ts";
import { buildMpfrOracle, type MpfrOracle } from "../../../testkit/numerics/mpfr/oracle.ts";

const INPUTS = AT_LENGTH ? 20_000 : 600;

const define = (name: OpName, a: Word, b = 0n): Word => applyOperation(Op[name], DType.float64, a, b, 0n);
const of = (name: OpName, x: number, y = 0): number => number64(define(name, word64(x), word64(y)));

describe("elementary functions of float64", () => {
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

    for (const name of ["pow", ...UNIVARIATE] as const)
      it(`${name}_randomAndHardInputs_areCorrectlyRounded`, () => {
        const hard: OperandPair[] = name === "pow" ? hardPowPairs64() : hardOperands64().map((a) => [a, 0n]);
        const operands = [...hard, ...relevantOperands64(name, INPUTS)];
        const expected = mpfr.evaluate(Op[name], operands, FLOAT64);
        operands.forEach(([a, b], i) => {
          const actual = define(name, a, b);
          if (actual !== expected[i])
            expect.fail(
              `${name}(${number64(a)}, ${number64(b)}) of 0x${a.toString(16)} gave 0x${actual.toString(16)}, ` +
                `MPFR says 0x${expected[i]!.toString(16)}`,
            );
        });
      });
  });

  it("specialValues_followC99", () => {
    const [inf, nan] = [Infinity, NaN];
    const at = [0, inf, -inf, nan, 1, -1];
    const table: Partial<Record<OpName, number[]>> = {
      exp: [1, inf, 0, nan, Math.E, 1 / Math.E],
      log: [-inf, inf, nan, nan, 0, nan],
      tanh: [0, 1, -1, nan, 0.7615941559557649, -0.7615941559557649],
      sigmoid: [0.5, 1, 0, nan, 0.7310585786300049, 0.2689414213699951],
      expm1: [0, inf, -1, nan, 1.7182818284590453, -0.6321205588285577],
      log1p: [0, inf, nan, nan, Math.LN2, -inf],
      sin: [0, nan, nan, nan, 0.8414709848078965, -0.8414709848078965],
      cos: [1, nan, nan, nan, 0.5403023058681398, 0.5403023058681398],
      asin: [0, nan, nan, nan, Math.PI / 2, -Math.PI / 2],
      acos: [Math.PI / 2, nan, nan, nan, 0, Math.PI],
      atan: [0, Math.PI / 2, -Math.PI / 2, nan, Math.PI / 4, -Math.PI / 4],
      erf: [0, 1, -1, nan, 0.8427007929497149, -0.8427007929497149],
      acosh: [nan, inf, nan, nan, 0, nan],
      atanh: [0, nan, nan, nan, inf, -inf],
    };
    for (const [name, values] of Object.entries(table))
      at.forEach((x, i) => expect(of(name as OpName, x), `${name} of ${x}`).to.deep.equal(values[i]));
  });

  it("pow_ofMidpointsAndSubnormals_roundsToEven", () => {
    // 94906267^2 has 54 bits and is odd.
    expect(of("pow", 2, -1075)).to.equal(0);
    expect(of("pow", 2, -1074)).to.equal(5e-324);
    const [exact, power] = [94906267n ** 2n, BigInt(of("pow", 94906267, 2))];
    expect(power - exact === 1n || exact - power === 1n).to.equal(true);
    expect((power >> 1n) % 2n).to.equal(0n);
    expect(of("pow", -1, 2 ** 1000)).to.equal(1);
    expect(of("pow", -1, -(2 ** 53 - 1))).to.equal(-1);
  });
});
