import { expect } from "chai";
import { HELPERS } from "../../../src/executor/loops/helpers.ts";
import { DType, type Word } from "../../../src/numerics/dtype.ts";
import { pow } from "../../../src/numerics/elementary/pow.ts";
import { canonical, fromNumber, toNumber } from "../../../src/numerics/float32.ts";
import { applyOperation } from "../../../src/program/expression.ts";
import { Op } from "../../../src/program/operations.ts";
import { hardOperands, UNIVARIATE } from "../../../test-support/elementaryCases.ts";
import { float32WordPairs, float32Words, Prng } from "../../../test-support/float32Words.ts";

const WORDS = 4_000;

/** Edges, any bits, and many of ordinary size, where the functions bend. */
function words(seed: number): Word[] {
  const prng = new Prng(seed);
  const ordinary = Array.from({ length: WORDS }, () => fromNumber(Math.fround(16 * (prng.uint32() / 2 ** 32 - 0.5))));
  return [...float32Words(seed, WORDS).map(canonical), ...ordinary, ...hardOperands()];
}

const isNegativeZero = (x: number): boolean => Object.is(x, -0);

describe("helpers of compiled loops", function () {
  this.timeout(30_000);

  for (const name of UNIVARIATE) {
    it(`${name}_isTheDefinition`, () => {
      const helper = HELPERS[name as "exp"];
      for (const word of words(5)) {
        const got = helper(toNumber(word));
        expect(fromNumber(got), word.toString(16)).to.equal(applyOperation(Op[name], DType.float32, word, 0n, 0n));
        expect(isNegativeZero(got)).to.equal(false);
      }
    });
  }

  it("pow_isTheDefinition", () => {
    const exponents = [0.5, 1, 2, 3, -1, 0, Infinity].map(fromNumber);
    const pairs = float32WordPairs(9, WORDS).map(([x, y]): [Word, Word] => [canonical(x), canonical(y)]);
    const special = pairs.slice(0, 500).flatMap(([x]) => exponents.map((y): [Word, Word] => [x, y]));
    for (const [x, y] of [...pairs, ...special]) {
      expect(fromNumber(HELPERS.pow(toNumber(x), toNumber(y))), `${x} ${y}`).to.equal(pow(x, y));
    }
  });
});
