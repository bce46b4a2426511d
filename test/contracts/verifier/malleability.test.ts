import { expect } from "chai";
import { encodeFunctionData, type Hex } from "viem";
import { toHash, toHex, type Hash } from "../../../src/program/merkle/hash.ts";
import { tensorTree } from "../../../src/program/merkle/tensor.ts";
import { CHUNK_BYTES } from "../../../src/program/merkle/sizes.ts";
import { estimateStepProofGas } from "../../../src/program/gas.ts";
import { Reduce } from "../../../src/program/types.ts";
import { openChunks, type ChunkOpening } from "../../../src/program/trace/opening.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { randomStep, type RandomStep } from "../../../testkit/programs/randomStep.ts";
import { proveElement, type StepProof } from "../../../testkit/verifier/stepProof.ts";
import { createCallChain } from "../../../testkit/verifier/callChain.ts";

/**
 * More than these steps need; a batch of proofs of this length that all burn it stays below a transaction's 2^24 gas.
 */
const GAS_OF_A_CALL = 1_500_000n;
const LONGEST_PROOF = 16_000;
const BATCH = 6;
const STEPS = Number(process.env.REFUTE_STEPS ?? 120);
const MUTATIONS = Number(process.env.REFUTE_MUTATIONS ?? 24);

/** A change of one proof's openings. */
type Mutation = (prng: Prng, openings: ChunkOpening[], tensors: readonly Uint8Array[]) => void;

const bytesOf = (hex: Hex): Buffer => Buffer.from(hex.slice(2), "hex");
const chunkHex = (opening: ChunkOpening): Buffer[] =>
  Array.from({ length: opening.indices.length }, (_, k) =>
    bytesOf(opening.chunks).subarray(k * CHUNK_BYTES, (k + 1) * CHUNK_BYTES),
  );

/** A place in a list, an item of it changed, dropped, doubled, put elsewhere, or one more. */
function mutateList<T>(prng: Prng, list: T[], change: (item: T) => T, other: () => T): void {
  const k = prng.below(list.length + 1);
  const kind = prng.below(5);
  if (k === list.length || kind === 0) list.splice(k, 0, other());
  else if (kind === 1) list.splice(k, 1);
  else if (kind === 2) list.splice(k, 0, list[k]!);
  else if (kind === 3) list.splice(prng.below(list.length), 0, ...list.splice(k, 1));
  else list[k] = change(list[k]!);
}

function flipped(prng: Prng, bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  if (copy.length > 0) copy[prng.below(copy.length)]! ^= 1 << prng.below(8);
  return copy;
}

const MUTATIONS_BY_NAME: Record<string, Mutation> = {
  indices(prng, openings) {
    const { indices } = prng.pick(openings);
    const far = (index: bigint): bigint => BigInt.asUintN(256, index + (1n << BigInt(prng.below(256))));
    const near = (index: bigint): bigint => BigInt.asUintN(256, index + prng.pick([1n, -1n, 2n]));
    mutateList(prng, indices, prng.below(2) === 0 ? far : near, () => BigInt(prng.below(8)));
  },
  siblings(prng, openings) {
    const { siblings } = prng.pick(openings);
    const other = (): Hash => prng.pick([toHash(new Uint8Array(32)), ...siblings]);
    mutateList(prng, siblings, (hash) => toHash(flipped(prng, bytesOf(hash))), other);
  },
  chunkBytes(prng, openings) {
    const opening = prng.pick(openings);
    const bytes = bytesOf(opening.chunks);
    const cut = prng.below(bytes.length + 1);
    opening.chunks = toHex(
      prng.pick([
        flipped(prng, bytes),
        flipped(prng, flipped(prng, bytes)),
        bytes.subarray(0, cut),
        Buffer.concat([bytes, Buffer.alloc(1 + prng.below(600))]),
        Buffer.concat([bytes.subarray(cut), bytes.subarray(0, cut)]),
      ]),
    );
  },
  // A chunk of any kind under one more or one other number, with or without a sibling less.
  chunksWithIndices(prng, openings, tensors) {
    const k = prng.below(openings.length);
    const opening = openings[k]!;
    const chunks = chunkHex(opening);
    const list = opening.indices.map((index, n) => ({ index, chunk: chunks[n]! }));
    const other = () => ({
      index: BigInt(prng.below(2 + 2 * list.length + Math.ceil(tensors[k]!.length / CHUNK_BYTES))),
      chunk: prng.pick([Buffer.alloc(CHUNK_BYTES), ...chunks]),
    });
    mutateList(prng, list, ({ index, chunk }) => ({ index, chunk: flipped(prng, chunk) }), other);
    if (prng.below(2) === 0) list.sort((a, b) => Number(a.index - b.index));
    opening.indices = list.map(({ index }) => index);
    opening.chunks = toHex(Buffer.concat(list.map(({ chunk }) => chunk)));
    if (prng.below(2) === 0) opening.siblings.splice(prng.below(opening.siblings.length + 1), 1);
  },
  // A valid opening of other chunks of the same tensor.
  otherChunks(prng, openings, tensors) {
    const k = prng.below(openings.length);
    const bytes = tensors[k]!;
    const all = Array.from({ length: Math.ceil(bytes.length / CHUNK_BYTES) }, (_, n) => n);
    const tree = tensorTree(bytes);
    openings[k] = openChunks(
      { bytes, tree: () => tree },
      all.filter(() => prng.below(2) === 0),
    );
  },
  // A valid opening of the same chunks of a tensor with other bytes; of a shorter, a longer one.
  otherTensor(prng, openings, tensors) {
    const k = prng.below(openings.length);
    const original = Buffer.from(tensors[k]!);
    const bytes = prng.pick([flipped(prng, original), Buffer.concat([original, Buffer.alloc(prng.below(2000), 1)])]);
    const tree = tensorTree(bytes);
    openings[k] = openChunks({ bytes, tree: () => tree }, openings[k]!.indices.map(Number));
  },
  openings(prng, openings) {
    const change = (opening: ChunkOpening): ChunkOpening => ({ ...opening, siblings: [] });
    mutateList(prng, openings, change, (): ChunkOpening => ({ indices: [], chunks: "0x", siblings: [] }));
  },
};

/**
 * Calldata with one word or byte of the openings' encoding, or the offset that leads there, changed; shorter or longer.
 */
function mutateCalldata(prng: Prng, data: Hex): Hex {
  const bytes = bytesOf(data);
  const offsetAt = 4 + 3 * 32;
  const start = 4 + Number(bytes.readBigUInt64BE(offsetAt + 24));
  const words = (bytes.length - start) / 32;
  // Lengths and offsets come first, and at the head of each opening; the words of a small number are those.
  const numbers = Array.from({ length: words }, (_, k) => start + 32 * k).filter((at) =>
    bytes.subarray(at, at + 28).every((byte) => byte === 0),
  );
  const at = prng.pick([offsetAt, ...numbers, start + 32 * prng.below(words)]);
  switch (prng.below(6)) {
    case 0:
      return toHex(bytes.subarray(0, start + prng.below(bytes.length - start)));
    case 1:
      return toHex(Buffer.concat([bytes, Buffer.alloc(1 + prng.below(100), 0xa5)]));
    case 2:
      bytes[at + prng.below(32)]! ^= 1 << prng.below(8);
      return toHex(bytes);
    case 3:
      bytes.copy(bytes, at, prng.pick(numbers), prng.pick(numbers) + 32);
      return toHex(bytes);
    default: {
      const number = bytes.readUInt32BE(at + 28) + prng.pick([1, -1, 31, 32, -32, 64, 96, 512, -512]);
      bytes.writeUInt32BE(number >>> 0, at + 28);
      return toHex(bytes);
    }
  }
}

describe("Malleability of step proofs", () => {
  const deploy = async () => {
    const { viem } = await createCallChain();
    const elementary = await viem.deployContract("Elementary");
    const verifier = await viem.deployContract("StepVerifier", [elementary.address]);
    const probe = await viem.deployContract("CallProbe");
    return {
      encode: (args: StepProof): Hex => encodeFunctionData({ abi: verifier.abi, functionName: "evaluate", args }),
      /** What the verifier answers to each; undefined if it reverts. */
      async answers(calls: readonly Hex[]): Promise<(bigint | undefined)[]> {
        const answers: (bigint | undefined)[] = [];
        for (let k = 0; k < calls.length; k += BATCH) {
          const batch = calls.slice(k, k + BATCH);
          const [succeeded, words] = await probe.read.tryAll([verifier.address, GAS_OF_A_CALL, batch]);
          answers.push(...words.map((word, i) => (succeeded[i] ? BigInt(word) : undefined)));
        }
        return answers;
      },
    };
  };
  let verifier: Awaited<ReturnType<typeof deploy>>;
  before(async () => void (verifier = await deploy()));

  const names = [...Object.keys(MUTATIONS_BY_NAME), "calldata"];

  // What convicts nobody who is honest, whatever a challenger brings: the exact value or a revert, never another value.
  it("evaluate_anyMutationOfAnyOpening_givesTheExactValueOrReverts", async function () {
    this.timeout(3_600_000);
    const prng = new Prng(Number(process.env.REFUTE_SEED ?? 4711));
    const reductions = new Set<number>();
    const refused = new Map(names.map((name) => [name, 0]));
    let accepted = 0;
    for (let n = 0; n < STEPS; n++) {
      const { step, tensors } = readingStep(prng);
      const element = prng.below(step.count);
      const { value, proof } = proveElement(step, element, tensors);
      const isLong = verifier.encode(proof).length > 2 * LONGEST_PROOF;
      if (isLong || estimateStepProofGas(step) > GAS_OF_A_CALL) continue;
      reductions.add(step.reduce);
      const mutations = Array.from({ length: MUTATIONS }, (_, m) => {
        const name = names[m % names.length]!;
        const openings = structuredClone(proof[3]);
        MUTATIONS_BY_NAME[name]?.(prng, openings, tensors);
        const data = verifier.encode([proof[0], proof[1], proof[2], openings]);
        return { name, data: name === "calldata" ? mutateCalldata(prng, data) : data };
      });
      const short = mutations.filter(({ data }) => data.length <= 2 * LONGEST_PROOF);
      const [exact, ...answers] = await verifier.answers([verifier.encode(proof), ...short.map(({ data }) => data)]);
      expect(exact, `step ${n}`).to.equal(value);
      answers.forEach((answer, m) => {
        const { name, data } = short[m]!;
        if (answer === undefined) refused.set(name, refused.get(name)! + 1);
        else if (answer !== value) expect.fail(`step ${n}, ${name}: ${answer} for ${value} by ${data}`);
        else accepted++;
      });
    }
    if (process.env.REFUTE_SHOW) console.log({ accepted, refused: [...refused] });
    expect(reductions.size).to.equal(Object.keys(Reduce).length);
    for (const [name, count] of refused) expect(count, name).to.be.above(0);
  });
});

/** A step that reads something. */
function readingStep(prng: Prng): RandomStep {
  for (;;) {
    const random = randomStep(prng);
    if (random.step.inputs.length > 0) return random;
  }
}
