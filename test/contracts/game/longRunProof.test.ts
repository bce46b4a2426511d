import { expect } from "chai";
import { keccak256, numberToHex, type Hex } from "viem";
import { ClaimStatus, NO_CHECKPOINT, NO_PICK, type StepProof } from "../../../src/chain/structs.ts";
import { openCheckpoint, openStep } from "../../../src/dispute/openings.ts";
import { proofTransactionBytes } from "../../../src/dispute/proofSize.ts";
import { submissionOf } from "../../../src/dispute/workerMove.ts";
import { packState, unpackState } from "../../../src/chain/market/state.ts";
import { toHex } from "../../../src/program/merkle/hash.ts";
import { MerkleList } from "../../../src/program/merkle/list.ts";
import { chunkOf, tensorTree } from "../../../src/program/merkle/tensor.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { knownProgram } from "../../../src/dispute/run/execution.ts";
import { encodeStepBody } from "../../../src/program/encode.ts";
import { estimateStepProof } from "../../../src/program/gas.ts";
import { Op } from "../../../src/program/operations.ts";
import { maxRunProofBytes, runProofBytes } from "../../../src/program/proofBytes.ts";
import { commitProgram } from "../../../src/program/root.ts";
import { MAX_ITEMS } from "../../../src/program/run.ts";
import type { Program, Step } from "../../../src/program/types.ts";
import { openElement } from "../../../src/program/trace/opening.ts";
import { NO_REDUCTION } from "../../../testkit/programs/stepModel.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { claimKey, factsOf, gameEvents, gasOf, postJob, usualTerms } from "../../../testkit/protocol/world.ts";

const dtype = DType.int32;
/** Inputs that the step reads, at most; the last one is carried, the others are each item's own. */
const READS = 16;
/** As many inputs as a header that is served has room for. */
const INPUTS = 143;
const ITEM = 40_001;

const word = (value: number): Uint8Array => new Uint8Array(Int32Array.of(value).buffer);

/** One step that adds up as many inputs as a step may read. */
function program() {
  const step: Step = {
    dtype,
    count: 1,
    inputs: Array.from({ length: READS }, (_, index) => ({ kind: "input", index, dtype, count: 1 })),
    outDigits: [1],
    ...NO_REDUCTION,
    epilogueReads: Array.from({ length: READS }, (_, input) => ({ input, fill: 0n, axes: [] })),
    epilogue: {
      code: Array.from({ length: READS - 1 }, (_, k) => ({
        op: Op.add,
        dtype,
        a: k === 0 ? 0 : READS + k - 1,
        b: k + 1,
        c: 0,
      })),
      out: 2 * READS - 2,
    },
  };
  const max: Program = {
    inputs: Array.from({ length: INPUTS }, (_, k) => ({
      dtype,
      count: 1,
      ...(k < READS && { source: k === READS - 1 ? { kind: "carried", checkpoint: 0 } : { kind: "each" } }),
    })),
    steps: [step],
    checkpoints: [{ first: 0, step: 0 }],
    outputs: [0],
    maxStepGas: estimateStepProof(step).gas,
    maxStepBytes: 90_000,
  };
  const shape = [1];
  return knownProgram({
    program: max,
    programRoot: commitProgram(max).programRoot,
    constants: new Map(),
    inputs: max.inputs.map((_, k) => ({ name: `x${k}`, dtype, shape })),
    outputs: [{ name: "y", dtype, shape }],
    origins: [{ node: "sum", operator: "Sum" }],
  });
}

describe("DisputeGame: a proof in the longest run, of a step that reads as much as can be", () => {
  const world = useWorld();

  it("itsGasAndBytes_areWithinTheEstimate", async () => {
    const known = program();
    const [step] = known.model.program.steps as [Step];
    // The tensors of all items are the same; items are wrong about nothing but one sum.
    const tensors = Array.from({ length: READS }, (_, k) => word(0x01010101 + k));
    const trees = tensors.map((tensor) => tensorTree(tensor));
    const ofItems = trees.map(({ root }) => MerkleList.fromHashes(new Array<Hex>(MAX_ITEMS).fill(root)));
    const roots = Array.from({ length: INPUTS }, (_, k) =>
      k < READS - 1 ? ofItems[k]!.root : keccak256(numberToHex(k)),
    );
    const inputs = MerkleList.fromHashes(roots);
    const { value, openings } = openElement(
      step,
      0,
      tensors.map((bytes, k) => ({ bytes, tree: () => trees[k]! })),
    );
    const wrong = word(Number(value) + 1);
    // A trace of one checkpoint is that tensor's root.
    const traces = Array.from({ length: MAX_ITEMS }, (_, k) => keccak256(numberToHex(k)));
    traces[ITEM - 1] = trees[READS - 1]!.root;
    traces[ITEM] = tensorTree(wrong).root;
    const run = MerkleList.fromHashes(traces);

    const job = await postJob(world(), {
      program: factsOf(known.commitment),
      inputRoots: roots,
      inputs: [],
      ...(await usualTerms(world())),
      items: MAX_ITEMS,
      window: 80_000,
      rootOnly: true,
      answer: false,
    });
    const { account } = world().worker;
    await world().market.write.claim([job], { account });
    await world().market.write.submit([job, submissionOf(run, world().parameters.arityBits)], { account });
    const claim = { job, worker: account.address, root: run.root, collateral: world().parameters.collateral };
    const pick = {
      index: BigInt(ITEM),
      node: traces[ITEM],
      siblings: run.path(ITEM),
      program: factsOf(known.commitment),
      checkpoint: openCheckpoint(known, 0),
      step: openStep(known, 0),
    };
    const challenger = { account: world().watcher.account };
    const [event] = await gameEvents(world(), await world().game.write.open([claim, 0, pick], challenger));
    if (event?.eventName !== "Picked") throw new Error("the game is not opened");
    const proof: StepProof = {
      pick: { ...NO_PICK, program: factsOf(known.commitment), step: openStep(known, 0) },
      body: toHex(encodeStepBody(step)),
      element: 0n,
      chunk: toHex(chunkOf(wrong, 0)),
      chunkSiblings: [],
      previous: traces[ITEM - 1]!,
      previousSiblings: run.path(ITEM - 1),
      inputs: trees.map(({ root }, k) => ({
        root,
        siblings: k === READS - 1 ? [] : [...ofItems[k]!.path(ITEM), ...inputs.path(k)],
        checkpointIndex: 0,
        checkpoint: NO_CHECKPOINT,
      })),
      openings,
    };
    const state = packState(unpackState(event.args.state));
    const gas = await gasOf(world(), await world().game.write.prove([state, claim, proof], challenger));
    expect((await world().market.read.claimOf([claimKey(world(), claim)]))[0]).to.equal(ClaimStatus.refuted);
    const estimate = estimateStepProof(step);
    const sources = known.model.program.inputs.map(({ source }) => source?.kind ?? "shared");
    const max = estimate.bytes + runProofBytes(step, sources);
    const bytes = proofTransactionBytes(proof);
    console.log(`      ${gas} gas of ${estimate.gas}, ${bytes} bytes of ${max}`);
    expect(Number(gas)).to.be.at.most(estimate.gas);
    expect(bytes).to.be.at.most(max);
    expect(runProofBytes(step, sources)).to.be.at.most(maxRunProofBytes(sources));
  });
});
