import { expect } from "chai";
import { concatHex, numberToHex, type Hex } from "viem";
import { DType, dtypeName, type Word } from "../../../src/numerics/dtype.ts";
import * as integer from "../../../src/numerics/integer.ts";
import { INTEGER_TYPES, integerWords } from "../../../testkit/numerics/integerWords.ts";
import { createCallChain } from "../../../testkit/verifier/callChain.ts";

const { add, sub, mul, div, mod, fmod, min, max, eq, lt, le, and, or, xor, shl, shr, neg, abs, sign, not } = integer;
const BINARY = { add, sub, mul, div, mod, fmod, min, max, eq, lt, le, and, or, xor, shl, shr };
const UNARY = { neg, abs, sign, not };

const pack = (words: readonly Word[]): Hex =>
  concatHex(words.map((word) => numberToHex(BigInt.asUintN(256, word), { size: 32 })));

describe("Integers at their edges, on chain", () => {
  const deploy = async () => (await createCallChain()).viem.deployContract("Float32Harness");
  let harness: Awaited<ReturnType<typeof deploy>>;
  before(async () => void (harness = await deploy()));

  for (const dtype of [...INTEGER_TYPES, DType.bool]) {
    it(`${dtypeName(dtype)}_everyOperationOnAnyTwo_isTheDefinitions`, async () => {
      const words = dtype === DType.bool ? [0n, 1n] : integerWords(dtype);
      const pairs = words.flatMap((a) => words.map((b) => [a, b] as const));
      const compare = async (name: string, definition: (a: Word, b: Word) => Word): Promise<void> => {
        const [packed] = await harness.read.integer([name, BigInt(dtype), pack(pairs.flat())]);
        expect(packed, name).to.equal(pack(pairs.map(([a, b]) => definition(a, b))));
      };
      for (const [name, operation] of Object.entries(BINARY)) await compare(name, (a, b) => operation(a, b, dtype));
      for (const [name, operation] of Object.entries(UNARY)) await compare(name, (a) => operation(a, dtype));
    });
  }
});
