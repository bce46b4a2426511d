import { expect } from "chai";
import { DType, dtypeName, isFloat, type DType as DTypeCode, type Word } from "../../../src/numerics/dtype.ts";
import { Op } from "../../../src/program/operations.ts";
import { Reduce, type Step, type View } from "../../../src/program/types.ts";
import { edgeWords, OTHER_FLOATS } from "../../../testkit/numerics/floatWords.ts";
import { integerWords } from "../../../testkit/numerics/integerWords.ts";
import { deployVerifier, proveElement, type DeployedVerifier } from "../../../testkit/verifier/stepProof.ts";
import { tensorOf } from "../../../testkit/programs/tensorOf.ts";

const { max, min, argmax, argmin, argmaxLast, argminLast } = Reduce;
const TERMS = 3;

/** Element i reads what is at i, i + 1, .. of an input. */
const row = (input: number, extent: number): View => ({
  input,
  fill: 0n,
  axes: [
    {
      extent,
      stride: 1,
      base: 0,
      div: 1,
      coeffs: [
        { digit: 0, coeff: 1 },
        { digit: 1, coeff: 1 },
      ],
    },
  ],
});

const stepOf = (reduce: Reduce, dtype: DTypeCode, types: readonly DTypeCode[], length: number): Step => ({
  dtype,
  count: length - TERMS + 1,
  inputs: types.map((type, index) => ({ kind: "input", index, dtype: type, count: length })),
  outDigits: [length - TERMS + 1],
  redDigits: [TERMS],
  reduce,
  reduceType: types.at(-1)!,
  constants: [],
  termReads: types.map((_, input) => row(input, length)),
  epilogueReads: [],
  term: { code: [], outA: 0, outB: types.length - 1 },
  epilogue: { code: [], out: 0 },
});

describe("Reductions on chain", () => {
  let verifier: DeployedVerifier;
  before(async () => void (verifier = await deployVerifier()));

  async function everyElement(step: Step, tensors: readonly Uint8Array[]): Promise<void> {
    for (let element = 0; element < step.count; element++) {
      const { value, proof } = proveElement(step, element, tensors);
      expect(await verifier.read.evaluate(proof), `reduction ${step.reduce}, element ${element}`).to.equal(value);
    }
  }

  for (const dtype of [DType.float32, ...OTHER_FLOATS, DType.int8, DType.uint64]) {
    it(`extremaOf_${dtypeName(dtype)}_areTheDefinitions`, async () => {
      const [all, places] = isFloat(dtype)
        ? [edgeWords(dtype), [2, 10, 14, 16, 22, 26]]
        : [integerWords(dtype), [8, 9, 10, 11, 12, 0]];
      const [one, two, three, four, infinity, nan] = places.map((k) => all[k]!) as [Word, Word, Word, Word, Word, Word];
      const sign = isFloat(dtype) ? edgeWords(dtype)[1]! : 0n;
      const negative = (word: Word): Word => word | sign;
      // Ties, infinities next to NaN, negative numbers next to each other, zeros.
      const words = [
        ...[nan, infinity, nan, negative(infinity), nan, one, nan],
        ...[infinity, infinity, two, infinity, three, three, two, two, three],
        ...[negative(two), negative(three), negative(two), 0n, sign, 0n, negative(one), negative(infinity)],
        ...[negative(four), negative(infinity), one, negative(one), four],
      ];
      for (const reduce of [max, min, argmax, argmin, argmaxLast, argminLast]) {
        const type = reduce === max || reduce === min ? dtype : DType.int64;
        const step = stepOf(reduce, type, [dtype], words.length);
        await everyElement(step, [tensorOf(dtype, words)]);
        // The result has the type that code takes it for.
        const negated = { code: [{ op: Op.neg, dtype: type, a: 0, b: 0, c: 0 }], out: 1 };
        await everyElement({ ...step, count: 1, outDigits: [1], epilogue: negated }, [tensorOf(dtype, words)]);
      }
    });
  }

  it("placesOfExtrema_inWindowsPastBothEnds_areTheDefinitions", async () => {
    const words = [4n, 9n, -2n, 9n, -2n];
    for (const reduce of [argmax, argmin, argmaxLast, argminLast])
      for (const [base, coeff] of [
        [-3, 1],
        [-5, 2],
        [7, -1],
        [2, 1],
      ] as const)
        for (const fill of [-7n, 0n, 20n]) {
          const axes = [{ extent: 5, stride: 1, base, div: 1, coeffs: [{ digit: 1, coeff }] }];
          const step = { ...stepOf(reduce, DType.int64, [DType.int16], 5), count: 1, outDigits: [1], redDigits: [10] };
          await everyElement({ ...step, termReads: [{ input: 0, fill, axes }] }, [tensorOf(DType.int16, words)]);
        }
  });

  for (const dtype of OTHER_FLOATS) {
    it(`sumsAndProductsOf_${dtypeName(dtype)}_areTheDefinitions`, async () => {
      const edges = edgeWords(dtype);
      // Ones, subnormals, the largest, and words that are not canonical.
      const words = [14, 2, 16, 17, 20, 1, 8, 21, 24, 14, 22, 15, 26].map((k) => edges[k]!);
      const tensors = [tensorOf(dtype, words), tensorOf(dtype, [...words].reverse())];
      await everyElement(stepOf(Reduce.sum, dtype, [dtype], words.length), tensors.slice(0, 1));
      await everyElement(stepOf(Reduce.dot, dtype, [dtype, dtype], words.length), tensors);
    });
  }

  it("theLastThatHolds_andWhetherOneDoes_areTheDefinitions", async () => {
    const holds = [0n, 0n, 0n, 1n, 0n, 0n, 1n, 1n, 0n, 1n, 0n, 1n, 1n, 1n];
    const values = holds.map((_, k) => BigInt(0x3f800000 + 7 * k));
    const step = stepOf(Reduce.last, DType.float32, [DType.bool, DType.float32], holds.length);
    const tensors = [tensorOf(DType.bool, holds), tensorOf(DType.float32, values)];
    await everyElement(step, tensors);
    const [bools, others] = [
      stepOf(Reduce.last, DType.bool, [DType.bool, DType.bool], holds.length),
      [...holds].reverse(),
    ];
    await everyElement(bools, [tensors[0]!, tensorOf(DType.bool, others)]);
    const code = [
      { op: Op.neg, dtype: DType.float32, a: 0, b: 0, c: 0 },
      { op: Op.select, dtype: DType.float32, a: 1, b: 3, c: 2 },
    ];
    const constants = [{ dtype: DType.float32, value: 0x40e00000n }];
    await everyElement({ ...step, constants, epilogue: { code, out: 4 } }, tensors);
    await everyElement({ ...step, dtype: DType.bool, epilogue: { code: [], out: 1 } }, tensors);
  });

  it("code_isNotRunPastItsEnd", async () => {
    // Behind the code stand the slots of its results, here what would be an unknown operation on float32.
    const step = stepOf(Reduce.dot, DType.float32, [DType.float32, DType.float32], 4);
    const code = Array.from({ length: 30 }, (_, k) => ({ op: Op.neg, dtype: DType.float32, a: k, b: 0, c: 0 }));
    const words = [0x3f800000n, 0x40000000n, 0x40400000n, 0x40800000n];
    const tensors = [tensorOf(DType.float32, words), tensorOf(DType.float32, [...words].reverse())];
    await everyElement({ ...step, term: { code, outA: 0x19, outB: 1 } }, tensors);
  });
});
