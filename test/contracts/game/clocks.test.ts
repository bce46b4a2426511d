import { expect } from "chai";
import type { Hex } from "viem";
import { ClaimStatus } from "../../../src/chain/structs.ts";
import { packState } from "../../../src/chain/market/state.ts";
import { claimContentOf } from "../../../src/chain/market/ids.ts";
import { disputeKit, disputedProgram } from "../../../testkit/protocol/disputeKit.ts";
import { GameDriver } from "../../../testkit/protocol/gameDriver.ts";
import { honestTrace } from "../../../testkit/protocol/chainProgram.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { claimKey, submitted } from "../../../testkit/protocol/world.ts";

const ROOT: Hex = `0x${"ab".repeat(32)}`;
const subject = disputedProgram;

describe("DisputeGame: turns, clocks, stale states", () => {
  const world = useWorld();
  const { revert, pass, against, againstLiar, statusOf } = disputeKit(world);

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
    await revert(reveal({ ...game.state, number: 7 }), "StaleState");
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
    const again = await new GameDriver(w, subject, driver.trace, driver.claim).open();
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
    const game = await (await against(honestTrace(subject))).open();
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
      world().game.write.expand([game.packed, claimContentOf(game.key), ...game.expandArgs()], {
        account: world().worker.account,
      }),
      "ClockExpired",
    );
    await game.timeout(world().watcher);
  });

  it("endings_onAnotherClaimsKey_revert", async () => {
    // Else a game against one claim would slash or pay the worker of another.
    const w = world();
    const game = await (await againstLiar()).open();
    const other = await submitted(w, subject, honestTrace(subject), { salt: ROOT });
    const key = claimKey(w, other);
    await revert(w.game.write.concede([game.packed, key], { account: w.worker.account }), "WrongClaim");
    await pass(3_601);
    await revert(w.game.write.timeout([game.packed, key]), "WrongClaim");
    await revert(w.game.write.timeout([game.packed, { ...game.key, worker: w.mallory.account.address }]), "WrongClaim");
  });

  it("concede_byAStranger_reverts", async () => {
    const game = await (await againstLiar()).open();
    const sent = world().game.write.concede([game.packed, game.key], { account: world().mallory.account });
    await revert(sent, "NotAParty");
  });

  it("closedGame_takesNoMove", async () => {
    const game = await (await against(honestTrace(subject))).open();
    await game.concede(world().watcher);
    await revert(world().game.write.reveal([game.packed, game.revealData()]), "StaleState");
    await revert(timeout(game), "StaleState");
    const sent = world().game.write.open(game.openArgs(0, 0), { account: world().watcher.account });
    await revert(sent, "GameExists");
  });
});
