import { expect } from "chai";
import type { Hex } from "viem";
import { arithmeticOf } from "../../../src/numerics/arithmetic.ts";
import { dtypeBytes, dtypeName, type Word } from "../../../src/numerics/dtype.ts";
import { ExactSum } from "../../../src/numerics/exactSum.ts";
import { applyOperation } from "../../../src/program/expression.ts";
import { Op, type OpName } from "../../../src/program/operations.ts";
import { edgeWords, floatPairs, OTHER_FLOATS } from "../../../testkit/numerics/floatWords.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { AT_LENGTH, itInTime } from "../../../testkit/atLength.ts";
import { createCallChain } from "../../../testkit/verifier/callChain.ts";

const PAIRS = AT_LENGTH ? 1_500 : 250;
const BATCH = 500;
const OPERATIONS = [
  ...["add", "sub", "mul", "div", "fmod", "min", "max", "eq", "lt", "le"],
  ...["neg", "abs", "sign", "sqrt", "floor", "ceil", "round", "isNaN", "isInf"],
] as OpName[];

const { viem } = await createCallChain();
const harness = await viem.deployContract("FloatHarness");

const pack = (words: readonly bigint[]): Hex =>
  `0x${words.map((word) => word.toString(16).padStart(64, "0")).join("")}`;
const unpack = (packed: Hex): bigint[] =>
  Array.from({ length: (packed.length - 2) / 64 }, (_, k) => BigInt(`0x${packed.slice(2 + 64 * k, 66 + 64 * k)}`));

describe("arithmetic of other floats on chain", () => {
  for (const dtype of OTHER_FLOATS) {
    for (const [seed, name] of OPERATIONS.entries()) {
      it(`${dtypeName(dtype)} ${name} gives the definition's bits`, async () => {
        const pairs = floatPairs(new Prng(seed + 100 * dtype), dtype, PAIRS);
        for (let start = 0; start < pairs.length; start += BATCH) {
          const batch = pairs.slice(start, start + BATCH);
          const results = unpack(await harness.read.operate([BigInt(Op[name]), BigInt(dtype), pack(batch.flat())]));
          batch.forEach(([a, b], k) => {
            const want = applyOperation(Op[name], dtype, a, b, 0n);
            if (results[k] !== want)
              expect.fail(
                `(0x${a.toString(16)}, 0x${b.toString(16)}): ${results[k]!.toString(16)}, not ${want.toString(16)}`,
              );
          });
        }
      });
    }

    itInTime(`a dot product of ${dtypeName(dtype)} gives the definition's bits`, async () => {
      const prng = new Prng(dtype);
      const float = arithmeticOf(dtype);
      const edges = edgeWords(dtype);
      const finite = (word: Word): Word => (float.isNaN(word) || float.isInfinite(word) ? 1n : word);
      for (const terms of [1, 2, 3, 7, 40, 250]) {
        const rows = Math.ceil(120 / terms);
        const pairs: [Word, Word][] = [];
        while (pairs.length < rows * terms) {
          let [a, b] = [prng.bits(8 * dtypeBytes(dtype)), prng.bits(8 * dtypeBytes(dtype))];
          if (prng.below(4) === 0) a = prng.pick(edges);
          if (prng.below(300) !== 0) [a, b] = [finite(a), finite(b)];
          pairs.push([a, b]);
          if (prng.below(2) === 0) pairs.push([a ^ float.format.sign, b ^ BigInt(prng.below(2))]); // cancels, or nearly
        }
        const own = pairs.slice(0, rows * terms);
        const packed = await harness.read.dots([
          BigInt(dtype),
          BigInt(dtypeBytes(dtype)),
          pack(own.flat()),
          BigInt(terms),
        ]);
        const want = Array.from({ length: rows }, (_, row) => {
          const sum = new ExactSum(float);
          for (const [a, b] of own.slice(row * terms, (row + 1) * terms)) sum.addProduct(a, b);
          return sum.round();
        });
        expect(unpack(packed)).to.deep.equal(want);
      }
    });
  }
});
