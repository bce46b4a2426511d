import { expect } from "chai";
import { zeroHash, type Hex } from "viem";
import { ClaimStatus, NO_CHECKPOINT, NO_PROGRAM, NO_STEP, type Pick } from "../../../src/chain/structs.ts";
import { sha256, toHex } from "../../../src/program/merkle/hash.ts";
import { MerkleList } from "../../../src/program/merkle/list.ts";
import { commitProgram } from "../../../src/program/root.ts";
import { disputeKit, LIE, disputedProgram } from "../../../testkit/protocol/disputeKit.ts";
import { GameDriver } from "../../../testkit/protocol/gameDriver.ts";
import { honestTrace, lyingTrace, chainProgram } from "../../../testkit/protocol/chainProgram.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { claimId, createWorld, submitted } from "../../../testkit/protocol/world.ts";

const ROOT: Hex = `0x${"ab".repeat(32)}`;
const subject = disputedProgram;

describe("DisputeGame: open", () => {
  const world = useWorld();
  const { revert, pass, against, againstLiar } = disputeKit(world);

  it("open_tooLateUnknownOrTwice_reverts", async () => {
    const { game, market, viem, watcher } = world();
    const driver = await againstLiar();
    const options = { account: watcher.account };
    const marketRevert = (sent: Promise<unknown>, name: string) =>
      viem.assertions.revertWithCustomError(sent, market, name as never);
    const [claim, number, pick] = driver.openArgs(0, 0);
    const unknown = { ...claim, root: ROOT };
    await marketRevert(game.write.open([unknown, number, { ...pick, node: ROOT }], options), "WrongClaimStatus");
    await game.write.open([claim, number, pick], options);
    await revert(game.write.open([claim, number, pick], options), "GameExists");
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
    const [claim, number, pick] = driver.openArgs(3, LIE.checkpoint);
    const open = (changes: Partial<Pick>) =>
      world().game.write.open([claim, number, { ...pick, ...changes }], { account: world().watcher.account });
    await revert(open({ program: { ...pick.program, checkpointsRoot: ROOT } }), "WrongProgram");
    await revert(open({ siblings: [...pick.siblings, ROOT] }), "WrongPathLength");
    await revert(open({ index: 8n }), "PickNotBelowNode");
    await revert(open({ index: 2n }), "NotTheNode");
    await revert(open({ index: 5n }), "PickPastWidth");
    await revert(open({ node: ROOT }), "NotTheNode");
    await revert(open({ checkpoint: { ...pick.checkpoint, first: 8 } }), "CheckpointNotProven");
    await revert(open({ checkpoint: { ...pick.checkpoint, siblings: [] } }), "SiblingCount");
  });

  it("open_onPaddingAtAnyHeight_reverts", async () => {
    // Five checkpoints in a list of eight: node 3 of height 1 is padding, though its hash and its path are right.
    const driver = await againstLiar();
    const sent = world().game.write.open(driver.openArgs(2, 3), { account: world().watcher.account });
    await revert(sent, "PickPastWidth");
  });

  it("open_programWhoseCheckpointsHaveNoRange_reverts", async () => {
    for (const bent of [
      { first: 10, step: 9 },
      { first: 9, step: 22 },
    ]) {
      const checkpoints = subject.program.checkpoints.map((c, j) => (j === LIE.checkpoint ? bent : c));
      const program = { ...subject.program, checkpoints };
      const of = { ...subject, program, commitment: commitProgram(program) };
      const driver = await against(honestTrace(subject), of);
      const sent = world().game.write.open(driver.openArgs(3, LIE.checkpoint), { account: world().watcher.account });
      await revert(sent, "CheckpointNotProven");
    }
  });

  it("open_siblingCountOfAnotherDepth_reverts", async () => {
    const driver = await againstLiar();
    const [claim, number, pick] = driver.openArgs(0, 0);
    const sent = world().game.write.open([claim, number, { ...pick, index: 1n }], { account: world().watcher.account });
    await revert(sent, "PickNotBelowNode");
  });
});

describe("DisputeGame: reveal", () => {
  const world = useWorld();
  const { revert, pass, against, againstLiar, statusOf } = disputeKit(world);

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
    // Correct tensors, garbage in the 18th leaf of 17, below the nodes that are submitted: the roots differ, no element
    // does.
    const wide = chainProgram(4, new Array<number>(17).fill(1));
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
      const trace = honestTrace(subject);
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
    const game = await (await against(lyingTrace(subject, 3, 5))).open(3, 1);
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
  const world = useWorld();
  const { revert, againstLiar } = disputeKit(world);

  const pick = (game: GameDriver, changes: Partial<Pick>, leaf = 3, levels = 3, by = world().watcher) =>
    world().game.write.pick([game.packed, { ...game.pickArgs(leaf, levels), ...changes }], {
      account: by.account,
    });

  it("pick_anyDescendantOfARevealedNode_evenPastTheRevealed", async () => {
    const other = await createWorld({ arityBits: 1, bondGas: 4_000_000 });
    const trace = lyingTrace(subject, LIE.step, LIE.element);
    const game = await new GameDriver(other, subject, trace, await submitted(other, subject, trace)).open();
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

  it("pick_withSiblingsOfAListThatIsNotEntered_reverts", async () => {
    const game = await (await againstLiar()).open();
    await game.reveal();
    const leaf = game.pickArgs(LIE.checkpoint, 3);
    await revert(pick(game, { step: { ...leaf.step, siblings: [ROOT] } }, LIE.checkpoint), "WrongPathLength");
    await game.pick(LIE.checkpoint, 3);
    await game.expand();
    const step = game.pickArgs(3, 3);
    await revert(pick(game, { checkpoint: { ...step.checkpoint, siblings: [ROOT] } }), "WrongPathLength");
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
