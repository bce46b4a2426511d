import { expect } from "chai";
import { arithmeticOf } from "../../../src/numerics/arithmetic.ts";
import { DType, dtypeName, isFloat, type DType as DTypeCode, type Word } from "../../../src/numerics/dtype.ts";
import { cast } from "../../../src/numerics/cast.ts";
import { Op, signature } from "../../../src/program/operations.ts";
import { Reduce, type Instruction, type Step, type View } from "../../../src/program/types.ts";
import { integerWords } from "../../../testkit/numerics/integerWords.ts";
import { deployVerifier, proveElement, type DeployedVerifier } from "../../../testkit/verifier/stepProof.ts";
import { tensorOf } from "../../../testkit/programs/tensorOf.ts";

/** Operands that tell operations apart. */
function operands(dtype: DTypeCode): Word[] {
  if (dtype === DType.bool) return [0n, 1n, 1n];
  if (!isFloat(dtype))
    return [-3n, 2n, 5n].map((word) => cast(word, DType.int64, dtype)).concat(integerWords(dtype)[8]!);
  const { nan, infinity, sign } = arithmeticOf(dtype).format;
  const third = cast(0x3eaaaaabn, DType.float32, dtype);
  return [nan, infinity, third, third + 5n, sign | (third * 2n - third + 9n), infinity | sign];
}

const row = (input: number, extent: number): View => ({
  input,
  fill: 0n,
  axes: [{ extent, stride: 1, base: 0, div: 1, coeffs: [{ digit: 0, coeff: 1 }] }],
});

describe("Expressions on chain", () => {
  let verifier: DeployedVerifier;
  before(async () => void (verifier = await deployVerifier()));

  async function everyElement(step: Step, tensors: readonly Uint8Array[], what: string): Promise<void> {
    for (let element = 0; element < step.count; element++) {
      const { value, proof } = proveElement(step, element, tensors);
      expect(await verifier.read.evaluate(proof), `${what}, element ${element}`).to.equal(value);
    }
  }

  for (const dtype of Object.values(DType)) {
    if (dtype === DType.limb) continue;
    it(`everyOperationOn_${dtypeName(dtype)}_isTheDefinitions`, async () => {
      const words = operands(dtype);
      // Each with itself, and each with the next.
      const [a, b] = [
        [...words, ...words],
        [...words, ...words.slice(1), words[0]!],
      ];
      const tensors = [a, b, a.map((_, k) => BigInt(k & 1))].map((own, n) =>
        tensorOf(n === 2 ? DType.bool : dtype, own),
      );
      const stepOf = (type: DTypeCode, code: Instruction, count: number): Step => ({
        dtype: type,
        count,
        inputs: [dtype, dtype, DType.bool].map((own, index) => ({ kind: "input", index, dtype: own, count: a.length })),
        outDigits: [count],
        redDigits: [],
        reduce: Reduce.none,
        constants: [{ dtype: DType.bool, value: 1n }],
        termReads: [],
        epilogueReads: [0, 1, 2].map((input) => row(input, a.length)),
        term: { code: [], outA: 0, outB: 0 },
        epilogue: { code: [code], out: 4 },
      });
      for (const [name, op] of Object.entries(Op)) {
        const { accepts, arity, bool } = signature(op)!;
        if (!accepts(dtype) || op === Op.digit || op === Op.cast) continue;
        const slots = arity === 3 ? { a: 2, b: 0, c: 1 } : { a: 0, b: arity - 1, c: 0 };
        await everyElement(stepOf(bool ? DType.bool : dtype, { op, dtype, ...slots }, a.length), tensors, name);
      }
      for (const to of Object.values(DType)) {
        if (to === DType.limb) continue;
        await everyElement(stepOf(to, { op: Op.cast, dtype, a: 0, b: to, c: 0 }, 3), tensors, `cast to ${to}`);
      }
    });
  }

  it("digitsOfTerms_areTheDefinitions", async () => {
    const digit = (a: number): Instruction => ({ op: Op.digit, dtype: DType.int64, a, b: 0, c: 0 });
    const combined = (op: Op, a: number, b: number): Instruction => ({ op, dtype: DType.int64, a, b, c: 0 });
    // The sum of each term's number times itself plus an element: digits 1, 2 and 3 count terms.
    const code = [
      ...[digit(0), digit(1), digit(2), digit(3)],
      ...[combined(Op.mul, 3, 1), combined(Op.add, 6, 4), combined(Op.mul, 7, 1), combined(Op.add, 8, 5)],
      ...[combined(Op.mul, 9, 9), combined(Op.add, 10, 2), combined(Op.mul, 11, 0)],
    ];
    for (const redDigits of [
      [3, 2, 4],
      [2, 5, 1],
      [4, 1, 1],
      [1, 1, 7],
    ]) {
      const terms = redDigits.reduce((product, radix) => product * radix);
      const [outer, middle, inner] = redDigits as [number, number, number];
      const words = Array.from({ length: terms }, (_, k) => BigInt(7 * k + 3));
      const coeffs = [middle * inner, inner, 1].map((coeff, k) => ({ digit: 1 + k, coeff }));
      const step: Step = {
        dtype: DType.int64,
        count: 2,
        inputs: [{ kind: "input", index: 0, dtype: DType.int64, count: terms }],
        outDigits: [2],
        redDigits: [outer, middle, inner],
        reduce: Reduce.sum,
        reduceType: DType.int64,
        constants: [{ dtype: DType.int64, value: 11n }],
        termReads: [{ input: 0, fill: 0n, axes: [{ extent: terms, stride: 1, base: 0, div: 1, coeffs }] }],
        epilogueReads: [],
        term: { code, outA: 12, outB: 0 },
        epilogue: { code: [], out: 0 },
      };
      await everyElement(step, [tensorOf(DType.int64, words)], redDigits.join());
    }
  });
});
