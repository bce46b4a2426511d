import { expect } from "chai";
import { zeroHash, type Hex } from "viem";
import { ClaimStatus, type StepProof } from "../../../src/chain/structs.ts";
import type { Execution } from "../../../src/dispute/run/execution.ts";
import { executeItems } from "../../../src/runs/executeRun.ts";
import { RUN_STEPS, runInputBytes, runProgram } from "../../../testkit/programs/runProgram.ts";
import { runOf, type OwnRun } from "../../../testkit/programs/runsOf.ts";
import { withForgedInput } from "../../../testkit/protocol/forgery.ts";
import { refusalOf } from "../../../testkit/protocol/refusalOf.ts";
import { claimedRun, RunGame, type ClaimedRun } from "../../../testkit/protocol/runGame.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";

const ITEMS = 5;
const ELEMENT = 200;
/** Inputs of the steps, in their order. */
const STATE = 0;
const X = 1;
const ROOT: Hex = `0x${"ab".repeat(32)}`;

describe("DisputeGame: forged proofs against an honest run", function () {
  const world = useWorld();
  const program = runProgram();
  /** The checkpoint that the state is carried from, and the other one. */
  const [OTHER, CARRIED] = [0, 1];
  let honest: OwnRun;
  let claimed: ClaimedRun;

  beforeEach(async () => {
    honest = await runOf(program, ITEMS);
    await executeItems(honest.run, [0, 1, 2, 3, 4], honest.execute);
    claimed = await claimedRun(world(), honest);
  });

  const item = (k: number): Execution => honest.run.item(k);
  const traces = () => honest.run.list;
  /** The tensor of a checkpoint of an item, and its path in that item's trace. */
  const checkpointOf = (k: number, checkpoint: number) => ({
    bytes: item(k).trace.tensor(program.model.program.checkpoints[checkpoint]!.step),
    siblings: item(k).trace.list.path(checkpoint),
  });
  /** The trace root of an item, as the one before the disputed item. */
  const previousOf = (k: number) => ({ previous: traces().node(0, k), previousSiblings: traces().path(k) });

  /** A game in which a challenger is wrong about a step of an item, at its proof of what is right. */
  const wrongChallenger = async (k: number, step: number): Promise<{ game: RunGame; proof: StepProof }> => {
    const own = await runOf(program, ITEMS, { item: k, step, element: ELEMENT });
    const game = new RunGame(world(), claimed, own);
    const proof = await game.proof();
    expect(game.state.item).to.equal(k);
    expect(Number(proof.element)).to.equal(ELEMENT);
    expect(await refusalOf(game.prove(proof))).to.match(/ProofFails/);
    return { game, proof };
  };

  const refused = async (game: RunGame, proof: StepProof, why: RegExp): Promise<void> => {
    expect(await refusalOf(game.prove(proof))).to.match(why);
    expect(await game.status()).to.equal(ClaimStatus.submitted);
  };

  for (const [name, k] of [
    ["theMiddleItem", 2],
    ["theLastItem", 4],
  ] as const) {
    it(`carried_inTheTraceOfAnotherItem_isRefused_in_${name}`, async () => {
      const { game, proof } = await wrongChallenger(k, RUN_STEPS.carriedAndEach);
      const step = RUN_STEPS.carriedAndEach;
      for (const other of [0, k, ...(k < 4 ? [k + 1] : [])]) {
        const forged = withForgedInput(proof, item(k), step, { input: STATE, ...checkpointOf(other, CARRIED) });
        // The other trace shown as it is, at its own place, then as if it stood at the right one.
        await refused(game, { ...forged, ...previousOf(other) }, /PreviousNotProven/);
        const { previousSiblings } = previousOf(k - 1);
        await refused(game, { ...forged, ...previousOf(other), previousSiblings }, /PreviousNotProven/);
        // The right trace, which does not have the tensor.
        await refused(game, forged, /InputNotProven/);
      }
    });
  }

  it("carried_inTheRightItem_atAnotherCheckpoint_isRefused", async () => {
    const { game, proof } = await wrongChallenger(2, RUN_STEPS.carriedAndEach);
    const at = { input: STATE, ...checkpointOf(1, OTHER) };
    await refused(game, withForgedInput(proof, item(2), RUN_STEPS.carriedAndEach, at), /InputNotProven/);
  });

  it("carried_asTheJobsFirstTensor_isRefused_pastTheFirstItem", async () => {
    const { game, proof } = await wrongChallenger(2, RUN_STEPS.carriedAndEach);
    const initial = { input: STATE, bytes: runInputBytes(ITEMS)[STATE]! };
    const siblings = honest.run.inputs.path(STATE, 0);
    const forged = withForgedInput(proof, item(2), RUN_STEPS.carriedAndEach, { ...initial, siblings });
    await refused(game, forged, /SiblingCount/);
    await refused(game, { ...forged, previous: zeroHash, previousSiblings: [] }, /InputNotProven/);
    const cut = { ...initial, siblings: siblings.slice(0, 1) };
    await refused(game, withForgedInput(proof, item(2), RUN_STEPS.carriedAndEach, cut), /InputNotProven/);
  });

  it("previous_missing_orWithAPathOfAnotherLength_isRefused", async () => {
    const { game, proof } = await wrongChallenger(2, RUN_STEPS.carriedAndEach);
    await refused(game, { ...proof, previous: zeroHash }, /InputNotProven/);
    await refused(game, { ...proof, previousSiblings: proof.previousSiblings.slice(1) }, /SiblingCount/);
    await refused(game, { ...proof, previousSiblings: [...proof.previousSiblings, zeroHash] }, /SiblingCount/);
    await refused(game, { ...proof, previous: ROOT }, /PreviousNotProven/);
    // A node above the traces, by the path that it has.
    const above = { previous: traces().node(1, 0), previousSiblings: traces().path(0, 1) };
    await refused(game, { ...proof, ...above }, /SiblingCount/);
    await refused(game, { ...proof, ...above, previousSiblings: [ROOT, ...above.previousSiblings] }, /NotProven/);
    // The run's root is no trace of it.
    await refused(game, { ...proof, previous: honest.run.root, previousSiblings: [] }, /SiblingCount/);
  });

  it("firstItem_carriedFromAnItem_isRefused", async () => {
    const { game, proof } = await wrongChallenger(0, RUN_STEPS.carriedAndEach);
    expect(proof).to.deep.include({ previous: zeroHash, previousSiblings: [] });
    for (const other of [0, 1, 4]) {
      const at = { input: STATE, ...checkpointOf(other, CARRIED) };
      const forged = withForgedInput(proof, item(0), RUN_STEPS.carriedAndEach, at);
      await refused(game, { ...forged, ...previousOf(other) }, /NoItemBefore/);
      await refused(game, forged, /SiblingCount/);
      const longer = { ...at, siblings: honest.run.inputs.path(STATE, 0) };
      await refused(game, withForgedInput(proof, item(0), RUN_STEPS.carriedAndEach, longer), /InputNotProven/);
    }
    await refused(game, { ...proof, ...previousOf(0) }, /NoItemBefore/);
  });

  it("each_ofAnotherItem_orWithAnotherPath_isRefused", async () => {
    const step = RUN_STEPS.carriedAndEach;
    const { game, proof } = await wrongChallenger(2, step);
    const path = (other: number) => honest.run.inputs.path(X, other);
    const right = proof.inputs[X]!;
    for (const other of [0, 1, 3, 4]) {
      const bytes = honest.run.inputs.tensors(X)[other]!;
      // By its own path, then by that of the right item.
      for (const siblings of [path(other), path(2)]) {
        const forged = withForgedInput(proof, item(2), step, { input: X, bytes, siblings });
        await refused(game, forged, /InputNotProven/);
      }
    }
    const withSiblings = (siblings: readonly Hex[], root = right.root): StepProof => ({
      ...proof,
      inputs: proof.inputs.map((own, k) => (k === X ? { ...own, root, siblings } : own)),
    });
    await refused(game, withSiblings(right.siblings.slice(0, 2)), /PathTooShort/);
    await refused(game, withSiblings(right.siblings.slice(0, -1)), /SiblingCount/);
    await refused(game, withSiblings([...right.siblings, zeroHash]), /SiblingCount/);
    // The list's own root, with the path under the inputs alone.
    await refused(game, withSiblings(right.siblings.slice(3), honest.run.inputs.roots[X]), /PathTooShort/);
    const shared = withForgedInput(proof, item(2), step, {
      input: X,
      bytes: honest.run.inputs.tensors(2)[0]!,
      siblings: [...path(2).slice(0, 3), ...honest.run.inputs.path(2, 0)],
    });
    await refused(game, shared, /InputNotProven/);
  });

  it("shared_asAnotherInputOfTheJob_isRefused", async () => {
    const { game, proof } = await wrongChallenger(3, RUN_STEPS.shared);
    for (const other of [STATE, X]) {
      const bytes = honest.run.inputs.tensors(other)[0]!;
      for (const siblings of [honest.run.inputs.path(other, 0).slice(-2), honest.run.inputs.path(2, 0)]) {
        const forged = withForgedInput(proof, item(3), RUN_STEPS.shared, { input: 1, bytes, siblings });
        await refused(game, forged, /InputNotProven/);
      }
    }
  });

  it("index_ofAnotherItem_isRefused_whateverRootIsShown", async () => {
    const { game, proof } = await wrongChallenger(3, RUN_STEPS.index);
    for (const index of [0n, 2n, 4n, 2n ** 32n + 4n, -1n]) {
      const bytes = new Uint8Array(BigInt64Array.of(index).buffer);
      // What the item's own root does not open. Root and path of the proof are not read.
      const forged = withForgedInput(proof, item(3), RUN_STEPS.index, { input: 1, bytes, siblings: [] });
      await refused(game, forged, /WrongRoot/);
    }
  });

  it("checkpointBeforeTheRange_inTheTraceOfAnotherItem_isRefused", async () => {
    const { game, proof } = await wrongChallenger(2, RUN_STEPS.index);
    for (const other of [1, 3]) {
      const at = { input: 0, ...checkpointOf(other, OTHER) };
      await refused(game, withForgedInput(proof, item(2), RUN_STEPS.index, at), /InputNotProven/);
    }
    const at = { input: 0, ...checkpointOf(2, CARRIED) };
    await refused(game, withForgedInput(proof, item(2), RUN_STEPS.index, at), /InputNotProven/);
  });

  it("stepInTheRange_inTheTraceOfAnotherItem_isRefused", async () => {
    const { game, proof } = await wrongChallenger(2, RUN_STEPS.shared);
    for (const other of [1, 3]) {
      const { trace } = item(other);
      const at = { input: 0, bytes: trace.tensor(0), siblings: trace.interior(OTHER).path(0) };
      await refused(game, withForgedInput(proof, item(2), RUN_STEPS.shared, at), /InputNotProven/);
    }
  });

  it("claim_ofAnotherJobOrRun_isRefused", async () => {
    const { game, proof } = await wrongChallenger(3, RUN_STEPS.index);
    const { claim } = claimed;
    for (const job of [{ firstItem: 1 }, { items: 4 }, { items: 8 }, { checkpoints: 1 }, { inputsRoot: ROOT }]) {
      const other = { ...claim, job: { ...claim.job, ...job } };
      expect(await refusalOf(game.prove(proof, other))).to.match(/WrongClaim/);
    }
    expect(await refusalOf(game.prove(proof, { ...claim, root: ROOT }))).to.match(/WrongClaim/);
  });
});
