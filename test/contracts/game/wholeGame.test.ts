import { expect } from "chai";
import { zeroHash } from "viem";
import { ClaimStatus, Level } from "../../../src/chain/structs.ts";
import { hopOf } from "../../../src/chain/market/revealLevels.ts";
import { gameIdOf, hashStateOf } from "../../../src/chain/market/state.ts";
import { disputeKit, LIE, disputedProgram } from "../../../testkit/protocol/disputeKit.ts";
import { GameDriver } from "../../../testkit/protocol/gameDriver.ts";
import { honestTrace, limbProgram, lyingTrace, chainProgram } from "../../../testkit/protocol/chainProgram.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { createWorld, submitted } from "../../../testkit/protocol/world.ts";

const subject = disputedProgram;

describe("DisputeGame: a whole game", () => {
  const world = useWorld();
  const { revert, against, againstLiar, statusOf } = disputeKit(world);

  for (const [title, checkpoint, step, element] of [
    ["inside a range", 3, 12, 299],
    ["first step of a range", 3, 9, 0],
    ["step that reads the first of its range", 3, 10, 5],
    ["last step of a range", 4, 21, 128],
    ["one-step range", 1, 3, 255],
    ["first step of all", 0, 0, 127],
  ] as const) {
    it(`liar_${title.replaceAll(" ", "_")}_isRefuted`, async () => {
      const game = await against(lyingTrace(subject, step, element));
      await (await game.descend(checkpoint, step, element)).prove(element);
      expect(await statusOf(game)).to.equal(ClaimStatus.refuted);
      expect(await world().game.read.stateHash([game.gameId])).to.equal(zeroHash);
    });
  }

  // Elements of 32 bytes: a lie in the first limb of the second block, in flags, in the last element.
  for (const limb of [4, 7, -1]) {
    it(`liar_inWord_${limb}_ofAnExactSum_isRefuted`, async () => {
      const split = limbProgram();
      const element = limb < 0 ? split.program.steps[0]!.count - 1 : limb;
      const game = await against(lyingTrace(split, 0, 8 * element), split);
      await (await game.descend(0, 0, element)).prove(element);
      expect(await statusOf(game)).to.equal(ClaimStatus.refuted);
    });
  }

  it("honestWord_ofAnExactSum_cannotBeRefuted", async () => {
    const split = limbProgram();
    const game = await against(honestTrace(split), split);
    await game.descend(0, 0, 5);
    const w = world();
    const proof = [game.packed, game.claim, game.proof(5)] as const;
    await revert(w.game.write.prove(proof, { account: w.watcher.account }), "ProofFails");
  });

  for (const arityBits of [1, 2, 3, 5, 6]) {
    it(`liar_arity2^${arityBits}_isRefuted`, async () => {
      // Large bonds: with k = 1 a game has many moves.
      const other = await createWorld({ arityBits, bondGas: 4_000_000 });
      const trace = lyingTrace(subject, LIE.step, LIE.element);
      const game = new GameDriver(other, subject, trace, await submitted(other, subject, trace));
      await (await game.descend(LIE.checkpoint, LIE.step, LIE.element)).prove(LIE.element);
      expect(await statusOf(game)).to.equal(ClaimStatus.refuted);
    });
  }

  it("liar_publishedTrace_isRefutedInFourMoves", async () => {
    const game = await againstLiar();
    await game.open(3, LIE.checkpoint);
    await game.expand();
    await game.pick(LIE.step - 9, 3);
    expect(game.state.level).to.equal(Level.tensor);
    // The chunk comes with the proof: no further reveal.
    await game.prove(LIE.element);
    expect(await statusOf(game)).to.equal(ClaimStatus.refuted);
    expect(game.gas.map(({ move }) => move)).to.deep.equal(["open", "expand", "pick", "prove"]);
  });

  it("liar_publishedTrace_pickAndProofInOne_isRefutedInThreeMoves", async () => {
    const game = await againstLiar();
    await game.open(3, LIE.checkpoint);
    await game.expand();
    await game.prove(LIE.element, game.pickAndProof(LIE.step - 9, LIE.step, LIE.element));
    expect(await statusOf(game)).to.equal(ClaimStatus.refuted);
  });

  it("pickAndProof_fromTheTrace_ofAOneStepRange_holds", async () => {
    const game = await against(lyingTrace(subject, 3, 5));
    await game.open();
    await game.prove(5, game.pickAndProof(1, 3, 5));
    expect(await statusOf(game)).to.equal(ClaimStatus.refuted);
  });

  it("pickAndProof_thatEndsAboveATensor_reverts", async () => {
    const game = await againstLiar();
    await game.open();
    const proof = { ...game.pickAndProof(1, 3, 5), pick: game.pickArgs(LIE.checkpoint, 3) };
    const options = { account: world().watcher.account };
    await revert(world().game.write.prove([game.packed, game.claim, proof], options), "NotAtTensor");
  });

  it("pickAndProof_ofAnHonestClaim_fails", async () => {
    const game = await against(honestTrace(subject));
    await game.open(3, LIE.checkpoint);
    await game.expand();
    const proof = game.pickAndProof(LIE.step - 9, LIE.step, LIE.element);
    const options = { account: world().watcher.account };
    await revert(world().game.write.prove([game.packed, game.claim, proof], options), "ProofFails");
    // The neighbour's leaf with this step's content.
    const leaf = game.pickArgs(LIE.step - 8, 3);
    const elsewhere = { ...proof, pick: { ...leaf, step: proof.pick.step } };
    await revert(world().game.write.prove([game.packed, game.claim, elsewhere], options), "StepNotProven");
  });

  it("liar_oneStepRange_isRefutedInTwoMoves", async () => {
    const game = await against(lyingTrace(subject, 3, 5));
    await (await game.open(3, 1)).prove(5);
    expect(await statusOf(game)).to.equal(ClaimStatus.refuted);
  });

  it("honest_whateverIsPicked_noElementCanBeProven", async () => {
    for (const [checkpoint, step, element] of [
      [3, 12, 299],
      [1, 3, 0],
      [4, 15, 200],
    ] as const) {
      const game = await against(honestTrace(subject));
      await game.descend(checkpoint, step, element);
      await revert(
        world().game.write.prove([game.packed, game.claim, game.proof(element)], {
          account: world().watcher.account,
        }),
        "ProofFails",
      );
      await game.concede(world().watcher);
      expect(await statusOf(game)).to.equal(ClaimStatus.submitted);
    }
  });

  it("oneCheckpointOneStepOneChunk_entersTheTensorAtOnce", async () => {
    const tiny = chainProgram(4, [1]);
    const game = await against(lyingTrace(tiny, 0, 2), tiny);
    await game.open(0, 0);
    expect([game.state.level, game.state.depth]).to.deep.equal([Level.tensor, 0]);
    await (await game.reveal()).prove(2);
    expect(await statusOf(game)).to.equal(ClaimStatus.refuted);
  });

  it("hops_areBalancedAndNeverCrossASeam", async () => {
    for (let depth = 0; depth <= 24; depth++) {
      expect(await world().game.read.hopOf([depth])).to.equal(hopOf(depth, 4));
    }
    expect(await world().game.read.hopOf([11])).to.equal(4);
    expect(await world().game.read.hopOf([5])).to.equal(3);
  });

  it("hashState_equalsTheStoredHash", async () => {
    const game = await (await againstLiar()).open();
    expect(gameIdOf(game.state)).to.equal(game.gameId);
    expect(await world().game.read.stateHash([game.gameId])).to.equal(hashStateOf(game.state));
  });
});
