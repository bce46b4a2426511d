import { expect } from "chai";
import { compileLoops } from "../../../../src/executor/loops/compile.ts";
import { ELEMENTARY } from "../../../../src/numerics/kernels/elementary/estimates.ts";
import { kernelMemory } from "../../../../src/numerics/kernels/memory.ts";
import { DType, type Word } from "../../../../src/numerics/dtype.ts";
import { canonical, fromNumber, toNumber } from "../../../../src/numerics/float32.ts";
import { applyOperation } from "../../../../src/program/expression.ts";
import { Op } from "../../../../src/program/operations.ts";
import { hardOperands } from "../../../../testkit/numerics/elementaryCases.ts";
import { float32WordPairs, float32Words } from "../../../../testkit/numerics/float32Words.ts";
import { Prng } from "../../../../testkit/random/prng.ts";

const WORDS = 4_000;
const REGION = 1 << 20;
const memory = kernelMemory(48);

/** Edges, any bits, and many of ordinary size, where the functions bend; and next to 1, where some are 0. */
function words(seed: number): Word[] {
  const prng = new Prng(seed);
  const uniform = (): number => prng.uint32() / 2 ** 32 - 0.5;
  const ordinary = Array.from({ length: WORDS }, () => fromNumber(Math.fround(16 * uniform())));
  const nearOne = Array.from({ length: 500 }, () => fromNumber(Math.fround(1 + uniform() * 2 ** -prng.below(23))));
  const spread = Array.from({ length: WORDS }, () => fromNumber(Math.fround(240 * uniform())));
  return [...float32Words(seed, WORDS).map(canonical), ...ordinary, ...nearOne, ...spread, ...hardOperands()];
}

function compute(name: (typeof ELEMENTARY)[number], operands: readonly (readonly Word[])[]): Word[] {
  const count = operands[0]!.length;
  const types = operands.map(() => DType.float32);
  const axes = [{ extent: count, stride: 1, base: 0, div: 1, coeffs: [{ digit: 0, coeff: 1 }] }];
  const reads = operands.map((_, input) => ({ input, fill: 0n, axes }));
  const code = [{ op: Op[name], dtype: DType.float32, a: 0, b: operands.length - 1, c: 0 }];
  const digits = [{ digit: 0, radix: count }];
  const [loop] = compileLoops([{ digits, reads, sourceTypes: types, constants: [], code, outs: [operands.length] }]).on(
    memory,
  );
  operands.forEach((list, n) => new Uint32Array(memory.buffer, n * REGION, count).set(list.map(Number)));
  loop!(
    operands.map((_, n) => n * REGION),
    [2 * REGION],
    0,
    count,
  );
  return Array.from(new Uint32Array(memory.buffer, 2 * REGION, count), BigInt);
}

describe("elementary functions of vectors", function () {
  this.timeout(60_000);

  for (const name of ELEMENTARY.filter((each) => each !== "pow"))
    it(`${name}_isTheDefinition`, () => {
      const inputs = words(5);
      const results = compute(name, [inputs]);
      inputs.forEach((word, i) => {
        const expected = applyOperation(Op[name], DType.float32, word, 0n, 0n);
        expect(results[i], `${name} of ${toNumber(word)}, 0x${word.toString(16)}`).to.equal(expected);
      });
    });

  it("anglesFarFromZero_areReduced_nextToWholeTurnsToo", () => {
    const prng = new Prng(17);
    // 16367173 * 2^72 is the float32 closest to a multiple of pi/2.
    const far = Array.from({ length: WORDS }, () => BigInt(0x49800000 + prng.below(0x7f800000 - 0x49800000)));
    const inputs = [fromNumber(16367173 * 2 ** 72), 0x49800000n, 0x497fffffn, 0x7f7fffffn, ...far].flatMap(
      (word): Word[] => [word, word | 0x80000000n],
    );
    for (const name of ["sin", "cos", "tan"] as const) {
      const results = compute(name, [inputs]);
      inputs.forEach((word, i) => {
        const expected = applyOperation(Op[name], DType.float32, word, 0n, 0n);
        expect(results[i], `${name} of ${toNumber(word)}`).to.equal(expected);
      });
    }
  });

  it("pow_isTheDefinition", () => {
    const prng = new Prng(3);
    const exponents = [0.5, 1, 2, 3, -1, 0, Infinity, -Infinity, NaN, -2.5, 1e9, 2 ** 30 + 128].map(fromNumber);
    const pairs = float32WordPairs(9, WORDS).map(([x, y]): [Word, Word] => [canonical(x), canonical(y)]);
    const special = pairs.slice(0, 400).flatMap(([x]) => exponents.map((y): [Word, Word] => [x, y]));
    const ordinary = Array.from({ length: WORDS }, (): [Word, Word] => {
      const [x, y] = [0, 0].map(() => fromNumber(Math.fround((prng.uint32() / 2 ** 32) * 8)));
      return [x!, y!];
    });
    const few = [-2, -1, -0.5, 0, 0.5, 1, 2, Infinity, -Infinity, NaN].map(fromNumber);
    const all = [
      ...pairs,
      ...special,
      ...ordinary,
      ...few.flatMap((x) => [...few, ...exponents].map((y): [Word, Word] => [x, y])),
    ];
    const results = compute("pow", [all.map(([x]) => x), all.map(([, y]) => y)]);
    all.forEach(([x, y], i) => {
      const expected = applyOperation(Op.pow, DType.float32, x, y, 0n);
      expect(results[i], `${toNumber(x)} ^ ${toNumber(y)}`).to.equal(expected);
    });
  });
});
