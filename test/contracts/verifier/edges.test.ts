import { expect } from "chai";
import { keccak256, toBytes, type Hex } from "viem";
import { toHash, zeroHash } from "../../../src/program/merkle/hash.ts";
import { MerkleList } from "../../../src/program/merkle/list.ts";
import { tensorTree } from "../../../src/program/merkle/tensor.ts";
import {
  DType,
  dtypeName,
  isFloat,
  isInteger,
  writeWord,
  type DType as DTypeCode,
  type Word,
} from "../../../src/numerics/dtype.ts";
import { encodeStepBody } from "../../../src/program/encode.ts";
import { Reduce, type Step, type View } from "../../../src/program/types.ts";
import { openChunks } from "../../../src/program/trace/opening.ts";
import { edgeWords } from "../../../testkit/numerics/floatWords.ts";
import { INTEGER_TYPES, integerWords } from "../../../testkit/numerics/integerWords.ts";
import { revertName } from "../../../testkit/verifier/revertName.ts";
import { deployVerifier, proveElement, type DeployedVerifier } from "../../../testkit/verifier/stepProof.ts";
import { tensorOf } from "../../../testkit/programs/tensorOf.ts";
import { createCallChain } from "../../../testkit/verifier/callChain.ts";

const ALL = (1n << 256n) - 1n;

/** Copies a tensor. */
const copyOf = (dtype: DTypeCode, count: number): Step => ({
  dtype,
  count,
  inputs: [{ kind: "input", index: 0, dtype, count }],
  outDigits: [count],
  redDigits: [],
  reduce: Reduce.none,
  constants: [],
  termReads: [],
  epilogueReads: [
    { input: 0, fill: 0n, axes: [{ extent: count, stride: 1, base: 0, div: 1, coeffs: [{ digit: 0, coeff: 1 }] }] },
  ],
  term: { code: [], outA: 0, outB: 0 },
  epilogue: { code: [], out: 0 },
});

/** Adds up `terms` elements, each `stride` after the last. */
const sumOf = (terms: number, stride: number): Step => ({
  ...copyOf(DType.float32, 1),
  inputs: [{ kind: "input", index: 0, dtype: DType.float32, count: terms * stride }],
  redDigits: [terms],
  reduce: Reduce.sum,
  reduceType: DType.float32,
  termReads: [
    { input: 0, fill: 0n, axes: [{ extent: terms, stride, base: 0, div: 1, coeffs: [{ digit: 1, coeff: 1 }] }] },
  ],
  epilogueReads: [],
});

/** The first read of a step as a window: element i adds up what is at i + coeff * k + base, for k below `terms`. */
function window(step: Step, terms: number, count: number, base: number, extent: number, coeff = 1): Step {
  const coeffs = [
    { digit: 0, coeff: 1 },
    { digit: 1, coeff },
  ];
  const axes = [{ extent, stride: 1, base, div: 1, coeffs }];
  return { ...step, count, outDigits: [count], redDigits: [terms], termReads: [{ input: 0, fill: 5n, axes }] };
}

/** What an element's bytes can be: edges, and what is not canonical. */
function rawWords(dtype: DTypeCode): Word[] {
  if (isFloat(dtype)) return edgeWords(dtype);
  if (isInteger(dtype)) return integerWords(dtype);
  return dtype === DType.bool ? [0n, 1n, 2n, 128n, 255n] : [0n, 1n, ALL, ALL >> 1n, 1n << 255n];
}

/** The total, rounded to a type, of sums' words, four each. */
const totalOf = (words: readonly Word[], reduceType: DTypeCode = DType.float32): [Step, Uint8Array] => {
  const bytes = tensorOf(DType.limb, words);
  const step = sumOf(words.length, 1);
  const inputs = [{ kind: "input" as const, index: 0, dtype: DType.limb, count: words.length }];
  return [{ ...step, dtype: reduceType, inputs, reduce: Reduce.total, reduceType }, bytes];
};

const TOTALS: [string, Word[]][] = [
  ["zero", [0n, 0n, 0n, 0n]],
  ["theLeastUnit", [1n, 0n, 0n, 0n]],
  ["minusTheLeastUnit", [ALL, ALL, ALL, 0n]],
  ["aLowestWordOfZero", [0n, ALL << 100n, ALL, 0n]],
  ["twoWordsOfZero", [0n, 0n, ALL, 0n]],
  ["minusOneOfTheSecondWord", [0n, ALL, ALL, 0n]],
  ["minusTwoOfTheThirdWord", [0n, 0n, ALL - 1n, 0n]],
  ["minusOne", [0n, -(1n << 42n), ALL, 0n]],
  ["aCarryThroughTwoWords", [ALL, ALL, 0n, 0n, 1n, 0n, 0n, 0n]],
  ["aCarryThroughThreeWords", [ALL, ALL, ALL, 0n, 1n, 0n, 0n, 0n]],
  ["aCarryIntoTheSecond", [ALL, 5n, 0n, 0n, 1n << 255n, 0n, 0n, 0n]],
  ["bitsOfTwoWords", [0xabcdef12_34567890n << 192n, 3n, 0n, 0n]],
  ["halfWayButForTheLastBit", [(1n << 232n) + 1n, 1n, 0n, 0n]],
  ["halfWayAboveAnOddOne", [3n << 232n, 1n, 0n, 0n]],
  ["halfWay", [1n << 232n, 1n, 0n, 0n]],
  ["bitsOfTwoWordsBelowZero", [-(0xabcdef12_34567890n << 192n), ALL - 3n, ALL, 0n]],
  ["positiveInfinity", [7n, 0n, 0n, 2n]],
  ["negativeInfinity", [7n, 0n, 0n, 4n]],
  ["infinitiesOfBothSigns", [7n, 0n, 0n, 2n, 0n, 0n, 0n, 4n]],
  ["nan", [7n, 0n, 0n, 1n]],
  ["flagsBeyondTheThree", [7n, 0n, 0n, ALL << 3n]],
];

describe("Edges of the step verifier", () => {
  let verifier: DeployedVerifier;
  before(async () => void (verifier = await deployVerifier()));

  for (const [name, words] of TOTALS) {
    it(`total_${name}_isTheDefinitions`, async () => {
      const [step, bytes] = totalOf(words.map((word) => BigInt.asUintN(256, word)));
      const { value, proof } = proveElement(step, 0, [bytes]);
      expect(await verifier.read.evaluate(proof)).to.equal(value);
    });
  }

  for (const dtype of [DType.float16, DType.bfloat16]) {
    it(`total_ofAnyWordsTo${dtypeName(dtype)}_isTheDefinitions`, async () => {
      for (const [name, words] of TOTALS) {
        const [step, bytes] = totalOf(
          words.map((word) => BigInt.asUintN(256, word)),
          dtype,
        );
        const { value, proof } = proveElement(step, 0, [bytes]);
        expect(await verifier.read.evaluate(proof), name).to.equal(value);
      }
    });
  }

  /** Words of sums of float64, 18 each: each word alone, with the one above it, and below zero. */
  const float64Words = (): Word[][] => {
    const zeros = Array.from({ length: 18 }, () => 0n);
    const rows: Word[][] = [zeros, [...zeros.slice(0, 17).map(() => ALL), 0n], [...zeros, ...zeros].fill(ALL, 0, 17)];
    rows[2]![18] = 1n;
    for (let k = 0; k < 17; k++) {
      for (const word of [1n, 1n << 255n, ALL, (3n << 202n) + 1n]) {
        const row = zeros.with(k, word);
        rows.push(row, k < 16 ? row.with(k + 1, ALL) : row, row.fill(ALL, k + 1, 17), [...row, ...row]);
      }
    }
    for (const flags of [1n, 2n, 4n, 6n, ALL << 3n]) rows.push(zeros.with(0, 7n).with(17, flags));
    return rows;
  };

  it("totalOfFloat64_ofAnyWords_isTheDefinitions", async () => {
    for (const words of float64Words()) {
      const [step, bytes] = totalOf(words, DType.float64);
      const { value, proof } = proveElement(step, 0, [bytes]);
      expect(await verifier.read.evaluate(proof), words.map((word) => word.toString(16)).join(" ")).to.equal(value);
    }
  });

  it("partialTotalOf18Words_ofAnyWords_isTheDefinitions", async () => {
    for (const words of float64Words().filter((_, k) => k % 5 < 3)) {
      const [total, bytes] = totalOf(words);
      const partialTotal = { reduce: Reduce.partialTotal, reduceType: DType.limb };
      const step = { ...total, dtype: DType.limb, ...partialTotal, outDigits: [18], count: 18 };
      for (const element of [0, 1, 7, 15, 16, 17]) {
        const { value, proof } = proveElement(step, element, [bytes]);
        expect(await verifier.read.evaluate(proof), `word ${element}`).to.equal(value);
      }
    }
  });

  for (const dtype of Object.values(DType)) {
    it(`read_ofEach${dtypeName(dtype)}_isTheDefinitions`, async () => {
      const words = rawWords(dtype);
      const bytes = tensorOf(dtype, words);
      const step = copyOf(dtype, words.length);
      for (let element = 0; element < words.length; element++) {
        const { value, proof } = proveElement(step, element, [bytes]);
        expect(await verifier.read.evaluate(proof), `${words[element]}`).to.equal(value);
      }
    });
  }

  const everyElement = async (step: Step, tensors: readonly Uint8Array[]): Promise<void> => {
    for (let element = 0; element < step.count; element++) {
      const { value, proof } = proveElement(step, element, tensors);
      expect(await verifier.read.evaluate(proof), `element ${element}`).to.equal(value);
    }
  };

  it("partialTotal_ofAnyWords_isTheDefinitions", async () => {
    for (const [, words] of TOTALS) {
      const [total, bytes] = totalOf(words.map((word) => BigInt.asUintN(256, word)));
      const partialTotal = { reduce: Reduce.partialTotal, reduceType: DType.limb };
      const step = { ...total, dtype: DType.limb, ...partialTotal, outDigits: [4], count: 4 };
      await everyElement(step, [bytes]);
    }
  });

  for (const reduce of [Reduce.partialSum, Reduce.partialDot, Reduce.sum, Reduce.dot]) {
    it(`reduction${reduce}_ofAnyTwoFloats_isTheDefinitions`, async () => {
      const words = edgeWords(DType.float32);
      const bytes = tensorOf(DType.float32, words);
      const whole = reduce === Reduce.sum || reduce === Reduce.dot;
      const inputs = [{ kind: "input" as const, index: 0, dtype: DType.float32, count: words.length }];
      const step = { ...sumOf(words.length, 1), inputs, reduce, dtype: whole ? DType.float32 : DType.limb };
      for (const coeff of [2, 3, 7, 16, -5]) {
        const pairs = window(step, 2, words.length, 0, words.length, coeff);
        const digits = (digit: number, by: number) => ({ digit, coeff: by });
        const axes = [{ ...pairs.termReads[0]!.axes[0]!, coeffs: [digits(0, 1), digits(2, coeff)] }];
        const parts = {
          outDigits: [words.length, 4],
          count: 4 * words.length,
          termReads: [{ input: 0, fill: 5n, axes }],
        };
        await everyElement(whole ? pairs : { ...pairs, ...parts }, [bytes]);
      }
    });
  }

  for (const reduce of [Reduce.sum, Reduce.dot]) {
    it(`${reduce === Reduce.sum ? "sum" : "dot"}_ofIntegersPastTheirEnds_isTheDefinitions`, async () => {
      for (const dtype of INTEGER_TYPES) {
        const words = integerWords(dtype);
        const bytes = tensorOf(dtype, words);
        const inputs = [{ kind: "input" as const, index: 0, dtype, count: words.length }];
        const step = { ...sumOf(words.length, 1), dtype, inputs, reduce, reduceType: dtype };
        const pairs = window(step, 2, words.length - 1, 0, words.length);
        await everyElement(pairs, [bytes]);
      }
    });
  }

  it("window_pastBothEnds_isTheDefinitions", async () => {
    const words = Array.from({ length: 7 }, (_, k) => BigInt(1000 + 7 * k));
    const bytes = tensorOf(DType.int32, words);
    const inputs = [{ kind: "input" as const, index: 0, dtype: DType.int32, count: words.length }];
    const step = { ...sumOf(7, 1), dtype: DType.int32, inputs, reduceType: DType.int32 };
    for (const coeff of [1, 2, 3, -1, -2])
      for (const base of [-9, -5, -1, 0, 3, 6, 9]) {
        const shifted = window(step, 6, 3, base, 7, coeff);
        const [first] = shifted.termReads as [View];
        // A second view, which stays where it is for another number of terms.
        const second = { ...first, axes: first.axes.map((axis) => ({ ...axis, base: axis.base + 2 })) };
        const product: Step = {
          ...shifted,
          reduce: Reduce.dot,
          termReads: [first, second],
          term: { code: [], outA: 0, outB: 1 },
        };
        await everyElement(product, [bytes]);
      }
  });

  it("evaluate_anyRunOfChunks_givesTheValue", async () => {
    const tensor = new Uint8Array(4 * 6 * 128);
    for (let k = 0; k < 6 * 128; k++) writeWord(tensor, k, DType.float32, BigInt(0x3f800000 + k));
    for (let first = 0; first < 6; first++)
      for (let terms = 1; first + terms <= 6; terms++) {
        const step = sumOf(6, 128);
        const axes = step.termReads[0]!.axes.map((axis) => ({ ...axis, base: first }));
        await everyElement({ ...step, redDigits: [terms], termReads: [{ ...step.termReads[0]!, axes }] }, [tensor]);
      }
  });

  it("evaluate_anyNeededChunksNotOpened_reverts", async () => {
    const step = sumOf(6, 128);
    // What stands behind the indices, which a proof's author chooses: the length of the chunks, then the first 32 bytes
    // of the first.
    for (const first of [0, 1, 2, 3, 4]) {
      const tensor = new Uint8Array(4 * 6 * 128).fill(1);
      tensor.fill(0, 0, 32)[31] = first;
      const { proof, value } = proveElement(step, 0, [tensor]);
      expect(await verifier.read.evaluate(proof)).to.equal(value);
      const tree = tensorTree(tensor);
      for (let opened = 1; opened < 63; opened++) {
        const chunks = [0, 1, 2, 3, 4, 5].filter((chunk) => (opened >> chunk) & 1);
        if (first !== 0 && first !== chunks.length - 1) continue;
        const opening = openChunks({ bytes: tensor, tree: () => tree }, chunks);
        const call = verifier.read.evaluate([proof[0], proof[1], proof[2], [opening]]);
        expect(await revertName(call), chunks.join()).to.equal("ChunkNotOpened");
      }
    }
  });

  it("evaluate_aChunkNotOpenedWhoseNumberFollowsTheIndices_reverts", async () => {
    // After the indices of a proof there is the length of its chunks: 512 for one.
    const tensor = new Uint8Array(513 * 512);
    const [tree, step] = [tensorTree(tensor), copyOf(DType.float32, 513 * 128)];
    const { proof } = proveElement(step, 512 * 128, [tensor]);
    expect(await verifier.read.evaluate(proof)).to.equal(0n);
    for (const chunk of [0, 1, 511]) {
      const opening = openChunks({ bytes: tensor, tree: () => tree }, [chunk]);
      const call = verifier.read.evaluate([proof[0], proof[1], proof[2], [opening]]);
      expect(await revertName(call), `chunk ${chunk}`).to.equal("ChunkNotOpened");
    }
  });
});

describe("Edges of Merkle lists", () => {
  const deploy = async () => (await createCallChain()).viem.deployContract("MerkleHarness");
  let harness: Awaited<ReturnType<typeof deploy>>;
  before(async () => void (harness = await deploy()));
  const leaf = (k: number): Hex => keccak256(toBytes(`leaf ${k}`));
  const leaves = (count: number): Hex[] => Array.from({ length: count }, (_, k) => leaf(k));

  it("zeroHash_ofEachHeight_isTheDefinitions", async () => {
    for (let height = 0; height <= 40; height++)
      expect(await harness.read.zeroHash([BigInt(height)]), `${height}`).to.equal(toHash(zeroHash(height)));
  });

  it("leafUnder_thePaddingAfterTheLastLeaf_reverts", async () => {
    const list = MerkleList.fromHashes(leaves(5));
    const padding = list.path(4)[0]!;
    expect(await harness.read.rootFromPath([padding, 5n, [leaf(4), ...list.path(4).slice(1)]])).to.equal(list.root);
    const call = harness.read.leafUnder([list.root, 5n, padding, 5n, [leaf(4), ...list.path(4).slice(1)]]);
    expect(await revertName(call)).to.equal("PastWidth");
  });

  it("rootFromPath_256Levels_reverts", async () => {
    expect(await revertName(harness.read.rootFromPath([leaf(0), 0n, leaves(256)]))).to.equal("IndexBitsLeft");
    expect(await revertName(harness.read.rootFromPath([leaf(0), 0n, leaves(255)]))).to.equal(undefined);
  });

  it("refs_bodyThatEndsWithThem_areGiven_oneByteLessReverts", async () => {
    const refs = encodeStepBody(sumOf(5, 1)).subarray(0, 15);
    expect((await harness.read.refs([toHash(refs)])).length).to.equal(1);
    expect(await revertName(harness.read.refs([toHash(refs.subarray(0, 14))]))).to.equal("BodyLength");
  });

  it("subtreeRoot_withoutLeavesOrOf256Levels_reverts", async () => {
    expect(await revertName(harness.read.subtreeRoot([[], 3n]))).to.equal("EmptyList");
    expect(await revertName(harness.read.subtreeRoot([leaves(2), 256n]))).to.equal("PastWidth");
    expect(await revertName(harness.read.leavesRoot([[]]))).to.equal("EmptyList");
  });
});
