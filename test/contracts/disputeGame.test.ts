import { expect } from "chai";
import { zeroHash, type Hex } from "viem";
import { ClaimStatus, Level, NO_CHECKPOINT, NO_PROGRAM, NO_STEP, type Pick } from "../../src/chain/types.ts";
import { hopOf } from "../../src/chain/game/hop.ts";
import { gameIdOf, hashStateOf, packState } from "../../src/chain/game/state.ts";
import { sha256, toHex } from "../../src/merkle/hash.ts";
import { MerkleList } from "../../src/merkle/list.ts";
import type { Trace } from "../../src/trace/trace.ts";
import { GameDriver } from "../../test-support/protocol/gameDriver.ts";
import { honestTrace, limbProgram, lyingTrace, toyProgram, type Toy } from "../../test-support/protocol/toyProgram.ts";
import { useWorld } from "../../test-support/protocol/useWorld.ts";
import { claimId, claimKey, createWorld, submitted } from "../../test-support/protocol/world.ts";

const ROOT: Hex = `0x${"ab".repeat(32)}`;
/** 22 steps in 5 ranges, tensors of 3 chunks: padding in every list, a one-step range, a list of 3 levels. */
const toy = toyProgram(300, [3, 1, 5, 6, 7]);
const LIE = { step: 12, element: 299, checkpoint: 3 };

const world = useWorld();
const revert = (sent: Promise<unknown>, name: string): Promise<void> =>
  world().viem.assertions.revertWithCustomError(sent, world().game, name as never);
const pass = (seconds: number) => world().networkHelpers.time.increase(seconds);

/** A game against a liar (or, with an honest trace, without cause). */
async function against(trace: Trace, of: Toy = toy): Promise<GameDriver> {
  return new GameDriver(world(), of, trace, await submitted(world(), of, trace));
}
const againstLiar = () => against(lyingTrace(toy, LIE.step, LIE.element));
const statusOf = async ({ claim, world: w }: GameDriver) => (await w.market.read.claimOf([claimKey(w, claim)]))[0];

describe("DisputeGame: a whole game", () => {
  for (const [title, checkpoint, step, element] of [
    ["inside a range", 3, 12, 299],
    ["first step of a range", 3, 9, 0],
    ["last step of a range", 4, 21, 128],
    ["one-step range", 1, 3, 255],
    ["first step of all", 0, 0, 127],
  ] as const) {
    it(`liar_${title.replaceAll(" ", "_")}_isRefuted`, async () => {
      const game = await against(lyingTrace(toy, step, element));
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
      const trace = lyingTrace(toy, LIE.step, LIE.element);
      const game = new GameDriver(other, toy, trace, await submitted(other, toy, trace));
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
    const game = await against(lyingTrace(toy, 3, 5));
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
    const game = await against(honestTrace(toy));
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
    const game = await against(lyingTrace(toy, 3, 5));
    await (await game.open(3, 1)).prove(5);
    expect(await statusOf(game)).to.equal(ClaimStatus.refuted);
  });

  it("honest_whateverIsPicked_noElementCanBeProven", async () => {
    for (const [checkpoint, step, element] of [
      [3, 12, 299],
      [1, 3, 0],
      [4, 15, 200],
    ] as const) {
      const game = await against(honestTrace(toy));
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
    const tiny = toyProgram(4, [1]);
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

describe("DisputeGame: open", () => {
  it("open_tooLateUnknownOrTwice_reverts", async () => {
    const { game, market, viem, watcher } = world();
    const driver = await againstLiar();
    const options = { account: watcher.account };
    const marketRevert = (sent: Promise<unknown>, name: string) =>
      viem.assertions.revertWithCustomError(sent, market, name as never);
    const [claim, pick] = driver.openArgs(0, 0);
    const unknown = { ...claim, traceRoot: ROOT };
    await marketRevert(game.write.open([unknown, { ...pick, node: ROOT }], options), "WrongClaimStatus");
    await game.write.open([claim, pick], options);
    await revert(game.write.open([claim, pick], options), "GameExists");
    await pass(1_801);
    await marketRevert(game.write.open(driver.openArgs(1, 0), options), "WindowClosed");
  });

  it("open_withoutCredit_reverts", async () => {
    const { vault, mallory, viem } = world();
    const driver = await againstLiar();
    const options = { account: mallory.account };
    await vault.write.withdraw([20n * 10n ** 18n - world().bond + 1n, mallory.account.address], options);
    const sent = world().game.write.open(driver.openArgs(0, 0), options);
    await viem.assertions.revertWithCustomError(sent, vault, "InsufficientCredit");
  });

  it("open_wrongPathOrProgram_reverts", async () => {
    const driver = await againstLiar();
    const [claim, pick] = driver.openArgs(3, LIE.checkpoint);
    const open = (changes: Partial<Pick>) =>
      world().game.write.open([claim, { ...pick, ...changes }], { account: world().watcher.account });
    await revert(open({ program: { ...pick.program, checkpointsRoot: ROOT } }), "WrongProgram");
    await revert(open({ siblings: [...pick.siblings, ROOT] }), "WrongPathLength");
    await revert(open({ index: 8n }), "PickNotBelowNode");
    await revert(open({ index: 2n }), "NotTheNode");
    await revert(open({ index: 5n }), "PickPastWidth");
    await revert(open({ node: ROOT }), "NotTheNode");
    await revert(open({ checkpoint: { ...pick.checkpoint, first: 8 } }), "CheckpointNotProven");
    await revert(open({ checkpoint: { ...pick.checkpoint, siblings: [] } }), "SiblingCount");
  });

  it("open_siblingCountOfAnotherDepth_reverts", async () => {
    const driver = await againstLiar();
    const [claim, pick] = driver.openArgs(0, 0);
    const sent = world().game.write.open([claim, { ...pick, index: 1n }], { account: world().watcher.account });
    await revert(sent, "PickNotBelowNode");
  });
});

describe("DisputeGame: reveal", () => {
  const reveal = (game: GameDriver, data: Hex, by = world().worker) =>
    world().game.write.reveal([game.packed, data], { account: by.account });

  it("reveal_byAnyone_countsForTheWorker", async () => {
    const game = await (await againstLiar()).open();
    await game.reveal(world().mallory);
    expect(game.state.turn).to.equal(1);
    expect((await world().game.read.claimGames([claimId(world(), game.claim)]))[3] > 0n).to.equal(true);
  });

  it("reveal_wrongChildren_reverts", async () => {
    const game = await (await againstLiar()).open();
    const data = game.revealData();
    await revert(reveal(game, data.slice(0, -64) as Hex), "WrongDataLength");
    await revert(reveal(game, `${data}${"00".repeat(32)}`), "WrongDataLength");
    await revert(reveal(game, `0x${"11".repeat(32)}${data.slice(66)}`), "NotTheNode");
  });

  it("reveal_paddingLeafNotZero_reverts", async () => {
    // Correct tensors, garbage in the 18th leaf of 17, below the nodes that are submitted: the roots differ, no element does.
    const wide = toyProgram(4, new Array<number>(17).fill(1));
    const trace = honestTrace(wide);
    const roots = Array.from({ length: 17 }, (_, j) => trace.list.node(0, j));
    const garbage = MerkleList.fromHashes([...roots, ROOT]);
    const game = await against(Object.assign(trace, { list: garbage }), wide);
    await game.open(3, 4);
    await revert(reveal(game, game.revealData()), "PaddingNotZero");
    // Nothing else hashes to the root: the worker's time runs out.
    await pass(3_601);
    await game.timeout(world().watcher);
    expect(await statusOf(game)).to.equal(ClaimStatus.refuted);
  });

  it("reveal_chunkTailNotZero_reverts", async () => {
    for (const at of [176, 177, 191, 192, 511]) {
      // 1,200 bytes: the third chunk holds 176.
      const trace = honestTrace(toy);
      const chunk = Buffer.alloc(512);
      chunk.set(trace.tensor(3).subarray(1_024));
      const nodes = [0, 1].map((i) => trace.tree(3).node(0, i));
      chunk[at] = 1;
      const tree = MerkleList.fromHashes([...nodes, toHex(sha256(chunk))]);
      const list = MerkleList.fromHashes([0, 1, 2, 3, 4].map((j) => (j === 1 ? tree.root : trace.list.node(0, j))));
      const own = trace.tree.bind(trace);
      const game = await against(Object.assign(trace, { list, tree: (s: number) => (s === 3 ? tree : own(s)) }));
      await (await game.open(3, 1)).reveal();
      await game.pick(2, 2);
      await revert(reveal(game, toHex(chunk)), "PaddingNotZero");
    }
  });

  it("reveal_wrongChunk_reverts", async () => {
    const game = await (await against(lyingTrace(toy, 3, 5))).open(3, 1);
    await (await game.reveal()).pick(0, 2);
    const data = game.revealData();
    await revert(reveal(game, data.slice(0, -2) as Hex), "WrongDataLength");
    await revert(reveal(game, `0xff${data.slice(4)}`), "NotTheNode");
  });

  it("reveal_atATraceLeaf_reverts", async () => {
    const game = await (await againstLiar()).open(3, 3);
    await revert(reveal(game, "0x"), "NothingToReveal");
  });
});

describe("DisputeGame: pick", () => {
  const pick = (game: GameDriver, changes: Partial<Pick>, leaf = 3, levels = 3, by = world().watcher) =>
    world().game.write.pick([game.packed, { ...game.pickArgs(leaf, levels), ...changes }], {
      account: by.account,
    });

  it("pick_anyDescendantOfARevealedNode_evenPastTheRevealed", async () => {
    const other = await createWorld({ arityBits: 1, bondGas: 4_000_000 });
    const trace = lyingTrace(toy, LIE.step, LIE.element);
    const game = await new GameDriver(other, toy, trace, await submitted(other, toy, trace)).open();
    await game.reveal();
    await game.pick(3, 1);
    expect(game.state.depth).to.equal(2);
    await game.reveal();
    await game.pick(3, 2);
    expect(game.state.depth).to.equal(0);
  });

  it("pick_shortOfTheRevealed_reverts", async () => {
    const game = await (await againstLiar()).open();
    await game.reveal();
    // Level by level the worker would reveal the same nodes again: moves and gas that nobody prepaid.
    for (const levels of [1, 2]) await revert(pick(game, {}, 3, levels), "PickShortOfReveal");
    await game.pick(3, 3);
  });

  it("pick_wrongPath_reverts", async () => {
    const game = await (await againstLiar()).open();
    await game.reveal();
    const good = game.pickArgs(3, 3);
    await revert(pick(game, { siblings: [] }), "PickShortOfReveal");
    await revert(pick(game, { siblings: [...good.siblings, ROOT] }), "WrongPathLength");
    await revert(pick(game, { index: 11n }), "PickNotBelowNode");
    await revert(pick(game, { index: 5n, node: zeroHash }), "PickPastWidth");
    await revert(pick(game, { node: ROOT }), "NotTheNode");
    await revert(pick(game, { program: NO_PROGRAM }), "HeaderLength");
    await revert(pick(game, { checkpoint: NO_CHECKPOINT }), "SiblingCount");
    await revert(pick(game, {}, 3, 3, world().mallory), "NotChallenger");
  });

  it("pick_wrongStepLeaf_reverts", async () => {
    const game = await (await againstLiar()).open(3, LIE.checkpoint);
    await game.expand();
    const good = game.pickArgs(3, 3).step;
    await revert(pick(game, { step: { ...good, count: good.count + 1n } }), "StepNotProven");
    await revert(pick(game, { step: game.stepOpening(11) }), "StepNotProven");
    await revert(pick(game, { step: NO_STEP }), "SiblingCount");
  });

  it("pick_atAChunk_reverts", async () => {
    const game = await againstLiar();
    await game.descend(LIE.checkpoint, LIE.step, LIE.element);
    const args = { index: BigInt(game.state.index), node: game.state.node, siblings: [] };
    const sent = world().game.write.pick(
      [game.packed, { ...args, program: NO_PROGRAM, checkpoint: NO_CHECKPOINT, step: NO_STEP }],
      { account: world().watcher.account },
    );
    await revert(sent, "NothingToPick");
  });
});

describe("DisputeGame: expand", () => {
  const expand = (game: GameDriver, children: Hex, siblings: Hex[], by = world().worker) =>
    world().game.write.expand([game.packed, game.key.jobId, game.key.traceRoot, children, siblings], {
      account: by.account,
    });

  it("expand_byAnybodyButTheWorker_reverts", async () => {
    const game = await (await againstLiar()).open(3, LIE.checkpoint);
    await revert(expand(game, ...game.expandArgs(), world().mallory), "NotWorker");
  });

  it("expand_notEndingInTheDisputedLeaf_reverts", async () => {
    const game = await (await againstLiar()).open(3, LIE.checkpoint);
    const trace = lyingTrace(toy, 14, 0);
    const other = trace.interior(3);
    const children = `0x${Array.from({ length: 8 }, (_, k) => other.node(0, k).slice(2)).join("")}` as const;
    await revert(expand(game, children, []), "LastLeafNotDisputed");
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
    const fresh = await (await against(lyingTrace(toy, 1, 1))).open();
    await revert(expand(fresh, "0x", []), "NothingToExpand");
  });

  it("expand_longRange_proofCrossesTheHop", async () => {
    // 20 steps: five levels, a first hop of three.
    const long = toyProgram(8, [20]);
    const game = await against(lyingTrace(long, 17, 3), long);
    await (await game.open(0, 0)).expand();
    expect(game.state.depth).to.equal(5);
    await game.descend(0, 17, 3);
    await game.prove(3);
    expect(await statusOf(game)).to.equal(ClaimStatus.refuted);
  });
});

describe("DisputeGame: prove", () => {
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
    const other = { ...game.claim, traceRoot: ROOT };
    await revert(world().game.write.prove([game.packed, other, proof], options), "WrongClaim");
  });

  it("prove_checkpointBeforeTheRange_isAuthenticated", async () => {
    const first = await (await against(lyingTrace(toy, 9, 0))).descend(3, 9, 0);
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
    const direct = await (await against(lyingTrace(toy, 3, 5))).open(3, 1);
    expect(direct.state.turn).to.equal(0);
    await direct.prove(5);
    expect(await statusOf(direct)).to.equal(ClaimStatus.refuted);
  });

  it("prove_afterTheChallengersTime_reverts", async () => {
    await pass(3_601);
    await revert(prove(game, game.proof(LIE.element)), "ClockExpired");
  });

  const againstLiarOfAnotherJob = async () => against(lyingTrace(toy, 2, 2));
});

describe("DisputeGame: turns, clocks, stale states", () => {
  const timeout = (game: GameDriver) => world().game.write.timeout([game.packed, game.key]);

  it("moves_outOfTurn_revert", async () => {
    const game = await (await againstLiar()).open();
    const w = world();
    const pick = () => w.game.write.pick([game.packed, game.pickArgs(3, 3)], { account: w.watcher.account });
    await revert(pick(), "NotTurnOf");
    const data = game.revealData();
    await game.reveal();
    await revert(w.game.write.reveal([game.packed, data], { account: w.worker.account }), "NotTurnOf");
  });

  it("moves_onAnyOtherState_revert", async () => {
    const game = await (await againstLiar()).open();
    const opened = game.state;
    const data = game.revealData();
    await game.reveal();
    const w = world();
    const reveal = (state: typeof opened) => w.game.write.reveal([packState(state), data]);
    await revert(reveal(opened), "StaleState");
    await revert(reveal({ ...game.state, claimId: ROOT }), "StaleState");
    await revert(reveal({ ...game.state, openIndex: 1 }), "StaleState");
    // Equal nodes are not enough: the state is named whole.
    await revert(reveal({ ...opened, bond: opened.bond + 1n }), "StaleState");
    await revert(w.game.write.settle([packState(opened)]), "StaleState");
    await revert(w.game.write.timeout([packState(opened), game.key]), "StaleState");
    await revert(w.game.write.concede([packState(opened), game.key], { account: w.worker.account }), "StaleState");
  });

  it("afterAReorg_theSameCallFindsAnotherState", async () => {
    const w = world();
    const driver = await againstLiar();
    const before = await w.networkHelpers.takeSnapshot();
    await driver.open();
    const stale = { id: driver.gameId, state: driver.packed, data: driver.revealData() };
    await before.restore();
    await pass(7);
    const again = await new GameDriver(w, toy, driver.trace, driver.claim).open();
    expect(again.gameId).to.equal(stale.id);
    await revert(w.game.write.reveal([stale.state, stale.data]), "StaleState");
  });

  it("workersTimeRunsOut_claimDies", async () => {
    const game = await (await againstLiar()).open();
    await revert(timeout(game), "ClockRunning");
    await pass(3_590);
    await revert(timeout(game), "ClockRunning");
    await pass(20);
    await revert(world().game.write.reveal([game.packed, game.revealData()]), "ClockExpired");
    await game.timeout(world().mallory);
    expect(await statusOf(game)).to.equal(ClaimStatus.refuted);
  });

  it("challengersTimeRunsOut_claimLives", async () => {
    const game = await (await against(honestTrace(toy))).open();
    await game.reveal();
    await pass(3_601);
    const w = world();
    const sent = w.game.write.pick([game.packed, game.pickArgs(3, 3)], { account: w.watcher.account });
    await revert(sent, "ClockExpired");
    await game.timeout(w.mallory);
    expect(await statusOf(game)).to.equal(ClaimStatus.submitted);
    await w.market.write.finalise([game.claim]);
    expect(await statusOf(game)).to.equal(ClaimStatus.finalised);
  });

  it("budgetsAreOfTheWholeGame_notOfAMove", async () => {
    const game = await (await againstLiar()).open();
    await pass(2_000);
    await game.reveal();
    await game.pick(3, 3);
    await pass(1_700);
    await revert(
      world().game.write.expand([game.packed, game.key.jobId, game.key.traceRoot, ...game.expandArgs()], {
        account: world().worker.account,
      }),
      "ClockExpired",
    );
    await game.timeout(world().watcher);
  });

  it("concede_byAStranger_reverts", async () => {
    const game = await (await againstLiar()).open();
    const sent = world().game.write.concede([game.packed, game.key], { account: world().mallory.account });
    await revert(sent, "NotAParty");
  });

  it("closedGame_takesNoMove", async () => {
    const game = await (await against(honestTrace(toy))).open();
    await game.concede(world().watcher);
    await revert(world().game.write.reveal([game.packed, game.revealData()]), "StaleState");
    await revert(timeout(game), "StaleState");
    const sent = world().game.write.open(game.openArgs(0, 0), { account: world().watcher.account });
    await revert(sent, "GameExists");
  });
});
