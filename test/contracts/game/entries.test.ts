import { expect } from "chai";
import { disputedProgram, disputeKit, LIE } from "../../../testkit/protocol/disputeKit.ts";
import { gameIdOf } from "../../../src/chain/market/state.ts";
import { GameDriver, numberOf } from "../../../testkit/protocol/gameDriver.ts";
import { honestTrace, lyingTrace } from "../../../testkit/protocol/chainProgram.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { vaultEntries } from "../../../testkit/protocol/vaultEntries.ts";
import { claimId, gameEvents } from "../../../testkit/protocol/world.ts";
import { SINK } from "../../../testkit/protocol/deployWorld.ts";

/** A game without cause, which its challenger loses: what the vault writes, and what is logged. */
describe("DisputeGame: what a lost game has the vault write", () => {
  const world = useWorld();
  const { against, pass, revert } = disputeKit(world);

  /** A game in which the challenger is to move, and lets its time pass. */
  async function abandoned(): Promise<GameDriver> {
    const game = await (await (await against(honestTrace(disputedProgram))).open()).reveal();
    await pass(3_601);
    return game;
  }
  /** What the last transaction logged of the game's payment. */
  async function paid(): Promise<bigint> {
    const { client } = world();
    const hash = (await client.getBlock()).transactions[0]!;
    const closed = (await gameEvents(world(), hash)).find(({ eventName }) => eventName === "GameClosed");
    return (closed!.args as { paid: bigint }).paid;
  }

  it("timeout_byTheWorker_paysItTheWholeBond_inOneEntry", async () => {
    const { worker } = world();
    const game = await abandoned();
    const left = BigInt(game.state.bond);
    await game.timeout(worker);
    expect(await vaultEntries(world())).to.deep.equal([["Given", worker.account.address, left]]);
    expect(await paid()).to.equal(left);
  });

  it("timeout_byAnother_paysItItsGas_andTheWorkerTheRest", async () => {
    const { worker, mallory } = world();
    const game = await abandoned();
    await game.timeout(mallory);
    const [reward, rest] = await vaultEntries(world());
    expect([reward!.slice(0, 2), rest!.slice(0, 2)]).to.deep.equal([
      ["Given", mallory.account.address],
      ["Given", worker.account.address],
    ]);
    expect(reward![2] > 0n && reward![2] + rest![2] === BigInt(game.state.bond)).to.equal(true);
    expect(await paid()).to.equal(rest![2]);
  });

  it("concession_paysTheWorkerTheWholeBond_inOneEntry", async () => {
    const { worker, watcher } = world();
    const game = await (await (await against(honestTrace(disputedProgram))).open()).reveal();
    await game.concede(watcher);
    expect(await vaultEntries(world())).to.deep.equal([["Given", worker.account.address, BigInt(game.state.bond)]]);
  });

  it("collect_leavesOpenGamesAndWhatTheyAreDue_alone", async () => {
    const { game: contract, mallory } = world();
    const trace = lyingTrace(disputedProgram, LIE.step, LIE.element);
    const game = await (await (await against(trace)).open()).reveal();
    await new GameDriver(world(), disputedProgram, trace, game.claim, mallory).open();
    const read = () => contract.read.claimGames([claimId(world(), game.claim)]);
    const [open, dead, dues, earned] = await read();
    expect([open, dead, dues > 0n, earned > 0n]).to.deep.equal([2n, false, true, true]);
    const before = await world().networkHelpers.takeSnapshot();
    await contract.write.collect([game.key]);
    expect(await read()).to.deep.equal([2n, false, dues, 0n]);
    await before.restore();
    // A worker that collects from its dead claim does not bring it back to life.
    await game.concede(world().worker);
    const [left, gone, due] = await read();
    expect([left, gone]).to.deep.equal([1n, true]);
    await contract.write.collect([game.key]);
    expect(await read()).to.deep.equal([1n, true, due, 0n]);
    await revert(contract.write.collect([game.key]), "NothingEarned");
  });

  it("death_isSlashed_andDividedBetweenTheSinkAndTheWinner", async () => {
    const { worker, watcher, parameters } = world();
    const game = await (await against(lyingTrace(disputedProgram, LIE.step, LIE.element))).open();
    await game.concede(worker);
    const due = BigInt(game.state.spent);
    expect(await vaultEntries(world())).to.deep.equal([
      ["Slashed", worker.account.address, parameters.collateral],
      ["Given", SINK.toLowerCase(), parameters.collateral - parameters.bounty - due],
      ["Given", watcher.account.address, BigInt(game.state.bond) + parameters.bounty + due],
    ]);
  });

  it("settlement_thatBurnsMoreThanItsPrice_atTheHighestPriceThatWasSetAside_leavesTheSinkNothing", async () => {
    const { game: contract, worker, mallory, networkHelpers, client } = world();
    const trace = lyingTrace(disputedProgram, LIE.step, LIE.element);
    const game = await (await against(trace)).open();
    const other = await new GameDriver(world(), disputedProgram, trace, game.claim, mallory).open();
    await game.concede(worker);
    const { baseFeePerGas: fee } = await client.getBlock();
    await networkHelpers.setNextBlockBaseFeePerGas(fee! + fee! / 8n + 1n);
    const dear = { account: mallory.account, dataSuffix: `0x${"ff".repeat(2_000)}` } as const;
    await other.run("settle", contract.write.settle([other.packed], dear));
    const entries = await vaultEntries(world());
    expect(entries.map((entry) => entry.slice(0, 2))).to.deep.equal([["Given", mallory.account.address]]);
  });

  it("timeout_ofTheWorker_whileAnotherGameIsOpen_keepsWhatThatIsDue_andNoMore", async () => {
    const { game: contract, vault, mallory, requester, parameters } = world();
    const trace = lyingTrace(disputedProgram, LIE.step, LIE.element);
    const game = await (await against(trace)).open();
    const other = await new GameDriver(world(), disputedProgram, trace, game.claim, mallory).open();
    await pass(3_601);
    await game.timeout(requester);
    const [slashed, ...given] = await vaultEntries(world());
    expect(slashed![2]).to.equal(parameters.collateral);
    const [, , kept] = await contract.read.claimGames([claimId(world(), game.claim)]);
    const paidOut = given.reduce((sum, [, , amount]) => sum + amount, 0n);
    expect(paidOut - BigInt(game.state.bond) + kept).to.equal(parameters.collateral);
    await other.settle(mallory);
    // Nothing is left in custody but the fee of the job, which is open again.
    expect(await vault.read.custody()).to.equal(game.claim.job.fee);
  });
});

describe("DisputeGame: what names a game beside its claim and its challenger", () => {
  const world = useWorld();
  const { against } = disputeKit(world);

  it("open_isNamedByTheNumberThatItIsGiven", async () => {
    const game = await (await against(honestTrace(disputedProgram))).open(1, 0);
    expect(game.state.number).to.equal(numberOf(1, 0));
    expect(game.gameId).to.equal(gameIdOf(game.state));
  });
});
