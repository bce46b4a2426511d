import { expect } from "chai";
import { toHash, type Hash } from "../../../src/program/merkle/hash.ts";
import { tensorTree } from "../../../src/program/merkle/tensor.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { Reduce, type Step } from "../../../src/program/types.ts";
import { openChunks, type ChunkOpening } from "../../../src/program/trace/opening.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { randomTensor } from "../../../testkit/programs/randomStep.ts";
import { revertName } from "../../../testkit/verifier/revertName.ts";
import {
  deployVerifier,
  proveElement,
  type DeployedVerifier,
  type StepProof,
} from "../../../testkit/verifier/stepProof.ts";

const COUNT = 128 * 10 + 5;

/** Adds up every 300th element: chunks 0, 2, 4, 7 and 9 of 11. */
const STEP: Step = {
  dtype: DType.float32,
  count: 3,
  inputs: [
    { kind: "input", index: 0, dtype: DType.float32, count: COUNT },
    { kind: "input", index: 1, dtype: DType.float32, count: 3 },
  ],
  outDigits: [3],
  redDigits: [5],
  reduce: Reduce.sum,
  reduceType: DType.float32,
  constants: [],
  termReads: [
    { input: 0, fill: 0n, axes: [{ extent: 5, stride: 300, base: 0, div: 1, coeffs: [{ digit: 1, coeff: 1 }] }] },
  ],
  epilogueReads: [],
  term: { code: [], outA: 0, outB: 0 },
  epilogue: { code: [], out: 0 },
};

describe("Openings of a step proof", () => {
  let verifier: DeployedVerifier;
  let proof: StepProof;
  let value: bigint;
  let tensors: Uint8Array[];
  before(async () => {
    verifier = await deployVerifier();
    const prng = new Prng(12);
    tensors = STEP.inputs.map(({ dtype, count }) => randomTensor(prng, dtype, count));
    ({ value, proof } = proveElement(STEP, 1, tensors));
  });

  const outcome = async (change: Partial<ChunkOpening>): Promise<string | undefined> =>
    revertName(verifier.read.evaluate([proof[0], proof[1], proof[2], [{ ...proof[3][0]!, ...change }, proof[3][1]!]]));

  it("evaluate_honestOpenings_givesTheValue", async () => {
    expect(proof[3][0]!.indices).to.deep.equal([0n, 2n, 4n, 7n, 9n]);
    expect(proof[3][1]!.indices).to.deep.equal([]);
    expect(await verifier.read.evaluate(proof)).to.equal(value);
  });

  it("evaluate_siblingsLeftOverOrMissing_reverts", async () => {
    const { siblings } = proof[3][0]!;
    expect(await outcome({ siblings: siblings.slice(0, -1) })).to.equal("SiblingCount");
    expect(await outcome({ siblings: [...siblings, siblings[0]!] })).to.equal("SiblingCount");
    expect(await outcome({ siblings: [...siblings].reverse() })).to.equal("WrongRoot");
  });

  it("evaluate_indicesOutOfOrderPastTheWidthOrWithMoreBits_reverts", async () => {
    expect(await outcome({ indices: [0n, 4n, 2n, 7n, 9n] })).to.equal("IndicesNotIncreasing");
    expect(await outcome({ indices: [0n, 2n, 2n, 7n, 9n] })).to.equal("IndicesNotIncreasing");
    expect(await outcome({ indices: [0n, 2n, 4n, 7n, 11n] })).to.equal("PastWidth");
    expect(await outcome({ indices: [0n, 2n, 4n, 7n, 9n + 16n] })).to.equal("PastWidth");
    expect(await outcome({ indices: [0n, 2n, 4n, 7n, 9n + 2n ** 255n] })).to.equal("PastWidth");
    expect(await outcome({ indices: [0n, 2n, 4n, 6n, 9n] })).to.equal("WrongRoot");
  });

  it("evaluate_chunksOfAnotherLength_reverts", async () => {
    const { chunks } = proof[3][0]!;
    expect(await outcome({ chunks: chunks.slice(0, -2) as Hash })).to.equal("ChunkBytes");
    expect(await outcome({ chunks: `${chunks}00` })).to.equal("ChunkBytes");
    expect(await outcome({ indices: [0n, 2n, 4n, 7n] })).to.equal("ChunkBytes");
  });

  it("evaluate_oneTamperedByteOfAChunk_reverts", async () => {
    const bytes = Buffer.from(proof[3][0]!.chunks.slice(2), "hex");
    for (const position of [0, 511, 512, 1300, bytes.length - 1]) {
      const tampered = Buffer.from(bytes);
      tampered[position]! ^= 1;
      expect(await outcome({ chunks: toHash(tampered) })).to.equal("WrongRoot");
    }
  });

  it("evaluate_neededChunkNotOpened_reverts", async () => {
    const { proof: other } = proveElement({ ...STEP, redDigits: [4] }, 1, tensors);
    expect(await outcome(other[3][0]!)).to.equal("ChunkNotOpened");
    expect(await outcome({ indices: [], chunks: "0x", siblings: [] })).to.equal("ChunkNotOpened");
    expect(await outcome({ indices: [], chunks: "0x" })).to.equal("SiblingCount");
  });

  it("evaluate_anyNeededChunkNotOpened_alongAnyStride_reverts", async () => {
    const tensor = tensors[0]!;
    const tree = tensorTree(tensor);
    for (const stride of [1, 37, 60, 100, 128, -1, -37, -60, -100, -128]) {
      const base = stride < 0 ? 700 : 35;
      const terms = Math.min(600, Math.floor(600 / Math.abs(stride)));
      const axes = [{ extent: COUNT, stride: 1, base, div: 1, coeffs: [{ digit: 1, coeff: stride }] }];
      const step = { ...STEP, redDigits: [terms], termReads: [{ input: 0, fill: 0n, axes }] };
      const { proof: args, value: exact } = proveElement(step, 1, tensors);
      expect(await verifier.read.evaluate(args)).to.equal(exact);
      const needed = args[3][0]!.indices.map(Number);
      for (const missing of needed)
        for (const more of [[], [10]]) {
          const chunks = [...needed.filter((chunk) => chunk !== missing), ...more];
          const opening = openChunks({ bytes: tensor, tree: () => tree }, chunks);
          const call = verifier.read.evaluate([args[0], args[1], args[2], [opening, args[3][1]!]]);
          expect(await revertName(call), `${stride}: ${chunks.join()}`).to.equal("ChunkNotOpened");
        }
    }
  });

  it("evaluate_moreChunksThanNeeded_givesTheValue", async () => {
    const all = Array.from({ length: 1300 / 100 }, (_, k) => k);
    const every: Step = { ...STEP, redDigits: [all.length] };
    const wide = {
      ...every,
      termReads: [
        { input: 0, fill: 0n, axes: [{ extent: 13, stride: 100, base: 0, div: 1, coeffs: [{ digit: 1, coeff: 1 }] }] },
      ],
    };
    const { proof: more } = proveElement(wide, 1, tensors);
    expect(more[3][0]!.indices.length).to.be.above(5);
    const openings = [more[3][0]!, proof[3][1]!];
    expect(await verifier.read.evaluate([proof[0], proof[1], proof[2], openings])).to.equal(value);
  });

  it("evaluate_anotherRootAnElementPastTheEndOrMissingInputs_reverts", async () => {
    const [body, element, roots, openings] = proof;
    const name = (args: StepProof) => revertName(verifier.read.evaluate(args));
    expect(await name([body, element, [roots[1]!, roots[1]!], openings])).to.equal("WrongRoot");
    expect(await name([body, 3n, roots, openings])).to.equal("ElementPastEnd");
    expect(await name([body, element, roots.slice(1), openings])).to.equal("InputCount");
    expect(await name([body, element, roots, openings.slice(1)])).to.equal("InputCount");
  });

  it("evaluate_constantInput_isOpenedUnderTheRootInTheBody", async () => {
    const constant: Step = {
      ...STEP,
      inputs: [{ kind: "constant", root: proof[2][0]!, dtype: DType.float32, count: COUNT }],
    };
    const { proof: args, value: exact } = proveElement(constant, 1, [tensors[0]!]);
    expect(await verifier.read.evaluate(args)).to.equal(exact);
    // The root that a caller gives for a constant does not count.
    expect(await verifier.read.evaluate([args[0], args[1], [proof[2][1]!], args[3]])).to.equal(exact);
    const forged = proveElement({ ...constant, inputs: [{ ...constant.inputs[0]!, root: proof[2][1]! } as never] }, 1, [
      tensors[0]!,
    ]);
    expect(await revertName(verifier.read.evaluate(forged.proof))).to.equal("WrongRoot");
  });
});
