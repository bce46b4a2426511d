import { expect } from "chai";
import { encodeFunctionData, serializeTransaction, size, type Hex } from "viem";
import { disputeGameAbi } from "../../src/chain/abi/disputeGame.ts";
import { ZERO_HASH, type Claim, type PackedState, type StepProof } from "../../src/chain/structs.ts";
import { buildStepProof } from "../../src/dispute/stepProof.ts";
import { proofTransactionBytes } from "../../src/dispute/proofSize.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { CHUNK_BYTES } from "../../src/program/merkle/sizes.ts";
import { chunkOf } from "../../src/program/merkle/tensor.ts";
import { dtypeBytes } from "../../src/numerics/dtype.ts";
import { knownProgram } from "../../src/dispute/run/execution.ts";
import { encodeStepBody } from "../../src/program/encode.ts";
import { HEADER_BYTES, MAX_LEVELS } from "../../src/program/limits.ts";
import { openedChunks } from "../../src/program/openedChunks.ts";
import { estimateStepProofBytes, ROOM_FOR_RUNS } from "../../src/program/proofBytes.ts";
import type { Step, TensorRef } from "../../src/program/types.ts";
import { DisputedList } from "../../src/program/trace/disputedList.ts";
import { Trace } from "../../src/program/trace/trace.ts";
import { AT_LENGTH } from "../../testkit/atLength.ts";
import { longReduction } from "../../testkit/programs/longReduction.ts";
import { randomProgram, type RandomModel } from "../../testkit/programs/randomProgram.ts";
import { randomWindow, VALUES } from "../../testkit/programs/randomWindow.ts";
import { runOfOne } from "../../testkit/programs/runOfOne.ts";
import { matMulStep, reluProductStep, stepModel } from "../../testkit/programs/stepModel.ts";
import { randomTensor } from "../../testkit/programs/randomStep.ts";
import { Prng } from "../../testkit/random/prng.ts";

const words = (bytes: number): Hex => `0x${"ff".repeat(bytes)}`;
const HASH = words(32);
const path = (levels: number): Hex[] => new Array<Hex>(levels).fill(HASH);
const greatest = (bits: number): bigint => 2n ** BigInt(bits) - 1n;

const STATE: PackedState = {
  ...{ claimId: HASH, programRoot: HASH, node: HASH, runRoot: HASH, traceRoot: HASH, interiorRoot: HASH },
  ...{ place: greatest(256), party: greatest(256), clock: greatest(256) },
};
const CLAIM: Claim = {
  job: {
    ...{ requester: words(20), programRoot: HASH, inputsRoot: HASH, work: greatest(64), checkpoints: 2 ** 12 },
    ...{ fee: greatest(128), window: 86_400, claimSeconds: 86_400, deadline: greatest(64), callbackGas: 2_000_000 },
    ...{
      items: 2 ** 16,
      firstItem: 2 ** 31,
      answers: 16,
      maxOutputBytes: 65_536,
      deliverables: greatest(64),
      rootOnly: true,
      salt: HASH,
      termsHash: HASH,
    },
  },
  worker: words(20),
  root: HASH,
  collateral: greatest(128),
};

/** The bytes of a signed transaction whose fields are as long as chains make them. */
function sentBytes(proof: StepProof): number {
  const data = encodeFunctionData({ abi: disputeGameAbi, functionName: "prove", args: [STATE, CLAIM, proof] });
  const price = greatest(96);
  const transaction = { chainId: 2 ** 48, nonce: 2 ** 40, gas: greatest(32), to: words(20), data } as const;
  const fees = { maxFeePerGas: price, maxPriorityFeePerGas: price } as const;
  return size(serializeTransaction({ type: "eip1559", ...transaction, ...fees }, { r: HASH, s: HASH, yParity: 1 }));
}

/** The longest paths of an input's proof: the checkpoint of an earlier step, or a job input among 144. */
function longestInput({ kind }: TensorRef): StepProof["inputs"][number] {
  const levels = kind === "constant" ? 0 : kind === "input" ? 8 : MAX_LEVELS.trace;
  const checkpoint = { first: 2 ** 31, step: 2 ** 31, siblings: path(kind === "step" ? MAX_LEVELS.trace : 0) };
  return { root: HASH, siblings: path(levels), checkpointIndex: 2 ** 12, checkpoint };
}

/** The proof of a step in the program with the longest lists and header, with as many openings as are expected. */
const longestProof = (step: Step): StepProof => ({
  pick: {
    index: 2n ** 12n,
    node: HASH,
    siblings: path(MAX_LEVELS.trace),
    program: { header: words(HEADER_BYTES.max), stepsRoot: HASH, checkpointsRoot: HASH },
    checkpoint: { first: 0, step: 0, siblings: path(MAX_LEVELS.trace) },
    step: { dtype: 1, count: 2n ** 31n, bodyHash: HASH, siblings: path(MAX_LEVELS.steps) },
  },
  body: words(encodeStepBody(step).length),
  element: 2n ** 31n,
  chunk: words(CHUNK_BYTES),
  chunkSiblings: path(MAX_LEVELS.tensor),
  previous: ZERO_HASH,
  previousSiblings: [],
  inputs: step.inputs.map(longestInput),
  openings: step.inputs.map((_, input) => {
    const { chunks, siblings } = openedChunks(step, input);
    return {
      indices: Array.from({ length: chunks }, (_k, index) => BigInt(index)),
      chunks: words(CHUNK_BYTES * chunks),
      siblings: path(siblings),
    };
  }),
});

/** Proofs of some elements of every step of a program, as a challenger builds them. */
function proofsOf({ model, inputs }: RandomModel, prng: Prng): { step: Step; proof: StepProof }[] {
  const trace = new Trace(model.program, executeReference(model, inputs));
  const run = runOfOne({ ...knownProgram(model), inputs, trace });
  const disputed = { trace: new DisputedList(trace.list), interior: new DisputedList(trace.interior(0)) };
  return model.program.steps.flatMap((step, s) =>
    [0, step.count - 1, prng.below(step.count)].map((element) => {
      const chunk = Math.floor((element * dtypeBytes(step.dtype)) / CHUNK_BYTES);
      const target = { item: 0, step: s, first: 0, element, chunk: chunkOf(trace.tensor(s), chunk) };
      const { proof } = buildStepProof(run, disputed, target);
      return { step, proof: { ...proof, chunkSiblings: trace.tree(s).path(chunk) } };
    }),
  );
}

describe("estimateStepProofBytes", function () {
  this.timeout(120_000);

  it("longestProofOfAStep_isAsLongAsTheBound_lessItsRoomForRuns", () => {
    const prng = new Prng(3);
    const read = matMulStep(3, 5_000, 4);
    const inputs = read.inputs.map(({ dtype, count }, index): TensorRef => ({ kind: "step", index, dtype, count }));
    const earlier: Step = { ...read, inputs };
    const steps = [read, earlier, reluProductStep(HASH), ...[1, 2, 3].map(() => longReduction(prng).step)];
    for (const step of steps) {
      const proof = longestProof(step);
      const sent = sentBytes(proof) + ROOM_FOR_RUNS;
      // Numbers of the envelope that no chain has leave some bytes.
      expect(estimateStepProofBytes(step))
        .to.be.at.least(sent)
        .and.at.most(sent + 64);
      expect(proofTransactionBytes(proof)).to.be.at.least(sentBytes(proof));
    }
  });

  it("proofsOfRandomPrograms_neverExceedTheBound", () => {
    const prng = new Prng(4);
    const draws: (() => RandomModel)[] = [
      () => randomProgram(prng, 1 + prng.below(4)),
      () => randomWindow(prng, prng.pick(VALUES), { channels: 40, columns: 9 }),
      () => {
        const { step, tensors } = longReduction(prng);
        return { model: stepModel([step]), inputs: tensors };
      },
    ];
    let tightest = 0;
    for (let n = 0; n < Number(process.env.REFUTE_STEPS ?? (AT_LENGTH ? 90 : 25)); n++) {
      for (const { step, proof } of proofsOf(draws[n % draws.length]!(), prng)) {
        const [sent, bound] = [sentBytes(proof), estimateStepProofBytes(step)];
        tightest = Math.max(tightest, sent / bound);
        expect(sent, `${n}`).to.be.at.most(bound);
        expect(proofTransactionBytes(proof), `${n}`).to.be.at.least(sent);
      }
    }
    if (process.env.REFUTE_SHOW) console.log("tightest", tightest);
  });

  it("longProducts_boundIsAtMostAnEighthAboveTheOpenings_andWhatAnyProgramMayAdd", () => {
    const prng = new Prng(5);
    for (const inner of [200, 2_000, 8_000]) {
      const step = matMulStep(3, inner, 4);
      const inputs = step.inputs.map(({ dtype, count }) => randomTensor(prng, dtype, count));
      const fixed = estimateStepProofBytes(matMulStep(1, 1, 1));
      for (const { proof } of proofsOf({ model: stepModel([step]), inputs }, prng)) {
        const sent = sentBytes(proof);
        if (process.env.REFUTE_SHOW) console.log(inner, sent, estimateStepProofBytes(step), fixed);
        expect(estimateStepProofBytes(step)).to.be.at.most(1.125 * sent + fixed);
      }
    }
  });
});
