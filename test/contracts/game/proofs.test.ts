import { expect } from "chai";
import { executeReference } from "../../../src/executor/reference.ts";
import type { Hex } from "viem";
import { ClaimStatus } from "../../../src/chain/structs.ts";
import { commitProgram } from "../../../src/program/root.ts";
import { Trace } from "../../../src/program/trace/trace.ts";
import { claimContentOf } from "../../../src/chain/market/ids.ts";
import { disputeKit, LIE, disputedProgram } from "../../../testkit/protocol/disputeKit.ts";
import { GameDriver } from "../../../testkit/protocol/gameDriver.ts";
import { lyingTrace, chainProgram } from "../../../testkit/protocol/chainProgram.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";

const ROOT: Hex = `0x${"ab".repeat(32)}`;
const subject = disputedProgram;

describe("DisputeGame: expand", () => {
  const world = useWorld();
  const { revert, against, againstLiar, statusOf } = disputeKit(world);

  const expand = (game: GameDriver, children: Hex, siblings: Hex[], by = world().worker) =>
    world().game.write.expand([game.packed, claimContentOf(game.key), children, siblings], {
      account: by.account,
    });

  it("expand_byAnybodyButTheWorker_reverts", async () => {
    const game = await (await againstLiar()).open(3, LIE.checkpoint);
    await revert(expand(game, ...game.expandArgs(), world().mallory), "NotWorker");
  });

  it("expand_notEndingInTheDisputedLeaf_reverts", async () => {
    const game = await (await againstLiar()).open(3, LIE.checkpoint);
    const trace = lyingTrace(subject, 14, 0);
    const other = trace.interior(3);
    const children = `0x${Array.from({ length: 8 }, (_, k) => other.node(0, k).slice(2)).join("")}` as const;
    await revert(expand(game, children, []), "LeafNotInList");
  });

  it("expand_padding_length_siblings_checked", async () => {
    const game = await (await againstLiar()).open(3, LIE.checkpoint);
    const [children, siblings] = game.expandArgs();
    // Six steps in eight leaves.
    await revert(expand(game, `${children.slice(0, -64)}${"22".repeat(32)}` as Hex, siblings), "PaddingNotZero");
    await revert(expand(game, children.slice(0, -64) as Hex, siblings), "WrongDataLength");
    await revert(expand(game, children, [...siblings, ROOT]), "SiblingCount");
  });

  it("expand_elsewhere_reverts", async () => {
    const game = await (await againstLiar()).open(3, LIE.checkpoint);
    const args = game.expandArgs();
    await game.expand();
    await revert(expand(game, ...args), "NotTurnOf");
    const fresh = await (await against(lyingTrace(subject, 1, 1))).open();
    await revert(expand(fresh, "0x", []), "NothingToExpand");
    const inTensor = await (await against(lyingTrace(subject, 3, 5))).open(3, 1);
    await revert(expand(inTensor, "0x", []), "NothingToExpand");
  });

  it("expand_longRange_proofCrossesTheHop", async () => {
    // 20 steps: five levels, a first hop of three.
    const long = chainProgram(8, [20]);
    const game = await against(lyingTrace(long, 17, 3), long);
    await (await game.open(0, 0)).expand();
    expect(game.state.depth).to.equal(5);
    await game.descend(0, 17, 3);
    await game.prove(3);
    expect(await statusOf(game)).to.equal(ClaimStatus.refuted);
  });
});

describe("DisputeGame: prove", () => {
  const world = useWorld();
  const { revert, pass, against, againstLiar, statusOf } = disputeKit(world);

  type Proof = ReturnType<GameDriver["proof"]>;
  const prove = (game: GameDriver, proof: Proof, by = world().watcher) =>
    world().game.write.prove([game.packed, game.claim, proof], { account: by.account });
  let game: GameDriver;
  beforeEach(async () => {
    game = await againstLiar();
    await game.descend(LIE.checkpoint, LIE.step, LIE.element);
  });

  it("prove_anotherElement_fails_thenTheWrongOneHolds", async () => {
    await revert(prove(game, game.proof(298)), "ProofFails");
    await game.prove(LIE.element);
  });

  it("prove_elementPastTheEndOrElsewhere_reverts", async () => {
    const proof = game.proof(LIE.element);
    await revert(prove(game, { ...proof, element: 300n }), "ElementOutOfRange");
    await revert(prove(game, { ...proof, element: 0n }), "ElementNotBelowNode");
  });

  it("prove_byAnybodyButTheChallenger_reverts", async () => {
    await revert(prove(game, game.proof(LIE.element), world().mallory), "NotChallenger");
  });

  it("prove_tamperedChunkBodyOrStep_reverts", async () => {
    const proof = game.proof(LIE.element);
    await revert(prove(game, { ...proof, chunk: `0xff${proof.chunk.slice(4)}` }), "NotTheNode");
    await revert(prove(game, { ...proof, chunk: "0x00" }), "WrongDataLength");
    await revert(prove(game, { ...proof, chunkSiblings: [ROOT] }), "SiblingCount");
    await revert(prove(game, { ...proof, body: `${proof.body}00` }), "WrongBody");
    await revert(prove(game, { ...proof, pick: { ...proof.pick, step: game.stepOpening(11) } }), "StepNotProven");
    await revert(
      prove(game, { ...proof, pick: { ...proof.pick, program: { ...proof.pick.program, stepsRoot: ROOT } } }),
      "WrongProgram",
    );
  });

  it("prove_unauthenticatedInputs_reverts", async () => {
    const proof = game.proof(LIE.element);
    const withInput = (i: number, changes: Partial<Proof["inputs"][number]>) => ({
      ...proof,
      inputs: proof.inputs.map((input, k) => (k === i ? { ...input, ...changes } : input)),
    });
    await revert(prove(game, withInput(0, { root: ROOT })), "InputNotProven");
    await revert(prove(game, withInput(1, { root: ROOT })), "InputNotProven");
    await revert(prove(game, withInput(0, { siblings: [] })), "SiblingCount");
    await revert(prove(game, { ...proof, inputs: proof.inputs.slice(1) }), "WrongInputCount");
    const options = { account: world().watcher.account };
    const claim = { ...game.claim, job: { ...game.claim.job, inputsRoot: ROOT } };
    await revert(world().game.write.prove([game.packed, claim, proof], options), "WrongClaim");
    const other = { ...game.claim, root: ROOT };
    await revert(world().game.write.prove([game.packed, other, proof], options), "WrongClaim");
  });

  it("prove_stepThatReadsItselfOrALaterOne_reverts", async () => {
    // Who posts such a program gets no verdict on that step: it could agree with itself.
    const { program, model, input } = subject;
    for (const read of [LIE.step, LIE.step + 1]) {
      const steps = program.steps.map((step, k) => {
        const [previous, ...others] = step.inputs;
        if (k !== LIE.step || previous?.kind !== "step") return step;
        return { ...step, inputs: [{ ...previous, index: read }, ...others] };
      });
      const bent = { ...program, steps };
      const trace = new Trace(bent, executeReference(model, [input]));
      const circular = await against(trace, { ...subject, program: bent, commitment: commitProgram(bent) });
      await circular.descend(LIE.checkpoint, LIE.step, LIE.element);
      await revert(prove(circular, circular.proof(LIE.element)), "ReadsLaterStep");
    }
  });

  it("prove_checkpointBeforeTheRange_isAuthenticated", async () => {
    const first = await (await against(lyingTrace(subject, 9, 0))).descend(3, 9, 0);
    const proof = first.proof(0);
    const withInput = (changes: Partial<Proof["inputs"][number]>) => ({
      ...proof,
      inputs: proof.inputs.map((input, k) => (k === 0 ? { ...input, ...changes } : input)),
    });
    const { checkpoint } = proof.inputs[0]!;
    await revert(prove(first, withInput({ root: ROOT })), "InputNotProven");
    await revert(prove(first, withInput({ checkpoint: { ...checkpoint, step: 3 } })), "NotACheckpoint");
    await revert(prove(first, withInput({ checkpointIndex: 1 })), "NotACheckpoint");
    await first.prove(0);
  });

  it("prove_beforeATensorIsReached_reverts", async () => {
    const proof = game.proof(LIE.element);
    const early = await (await againstLiarOfAnotherJob()).open();
    // The picked path is not one of this claim's.
    await revert(prove(early, proof), "NotTheNode");
  });

  it("prove_whileTheWorkerIsToReveal_holds", async () => {
    const direct = await (await against(lyingTrace(subject, 3, 5))).open(3, 1);
    expect(direct.state.turn).to.equal(0);
    await direct.prove(5);
    expect(await statusOf(direct)).to.equal(ClaimStatus.refuted);
  });

  it("prove_afterTheChallengersTime_reverts", async () => {
    await pass(3_601);
    await revert(prove(game, game.proof(LIE.element)), "ClockExpired");
  });

  const againstLiarOfAnotherJob = async () => against(lyingTrace(subject, 2, 2));
});
