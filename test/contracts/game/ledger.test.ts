import { expect } from "chai";
import { zeroHash, type Hex } from "viem";
import { packState } from "../../../src/chain/market/state.ts";
import { ClaimStatus, Outcome } from "../../../src/chain/structs.ts";
import { disputedProgram, disputeKit, LIE } from "../../../testkit/protocol/disputeKit.ts";
import { GameDriver, numberOf } from "../../../testkit/protocol/gameDriver.ts";
import { isPaidAsBurnt, schedule } from "../../../testkit/protocol/schedule.ts";
import { honestTrace, lyingTrace } from "../../../testkit/protocol/chainProgram.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { claimId, claimKey, createWorld, creditOf, gameEvents, submitted } from "../../../testkit/protocol/world.ts";

const GWEI = 10n ** 9n;
const BASE_FEE = 8n * GWEI;
const subject = disputedProgram;
const seam = (siblings: number): bigint =>
  schedule("SEAM") +
  schedule("LEVEL") * BigInt(siblings) +
  schedule("HEADER_BYTE") * BigInt(subject.commitment.header.length);

describe("DisputeGame: what each move costs whom", () => {
  const world = useWorld();
  const { against } = disputeKit(world);
  const level = schedule("LEVEL");
  const children = (hop: number): bigint => schedule("CHILD") << BigInt(hop);

  /**
   * What is paid for a move: at least the gas that it burns, at most the schedule's price, and hardly more than it
   * burns.
   */
  function isPaid(paid: bigint, price: bigint, game: GameDriver): void {
    const { move, gas } = game.gas.at(-1)!;
    const said = `${move} burns ${gas}, pays ${paid}, at most ${price}`;
    expect(paid >= gas && paid <= price && paid * 100n <= gas * 102n, said).to.equal(true);
  }

  /** Makes a move of either side, whose price in the schedule is given. */
  async function isPaidFor(game: GameDriver, price: bigint, move: () => Promise<unknown>): Promise<void> {
    const [spent, bond] = [BigInt(game.state.spent), BigInt(game.state.bond)];
    await world().networkHelpers.setNextBlockBaseFeePerGas(BASE_FEE);
    await move();
    const { transactions } = await world().client.getBlock({ includeTransactions: true });
    const drawn = (bond - BigInt(game.state.bond)) / transactions[0]!.gasPrice!;
    const added = (BigInt(game.state.spent) - spent) / BASE_FEE;
    expect(drawn === 0n || added === 0n).to.equal(true);
    isPaid(drawn + added, price, game);
  }

  async function opened(levels: number, index: number, trace = lyingTrace(subject, LIE.step, LIE.element)) {
    const game = await against(trace);
    await world().networkHelpers.setNextBlockBaseFeePerGas(BASE_FEE);
    await game.open(levels, index);
    return game;
  }

  it("everyMove_isPricedByTheSchedule_andDueIfTheClaimDies", async () => {
    const { game: contract, bond } = world();
    const game = await opened(0, 0);
    isPaid(BigInt(game.state.spent) / BASE_FEE, schedule("OPEN"), game);
    // Three levels of checkpoints, five of the program's steps; the tensor has three chunks.
    await isPaidFor(game, schedule("REVEAL") + children(3), () => game.reveal());
    await isPaidFor(game, schedule("PICK") + 3n * level + seam(3), () => game.pick(LIE.checkpoint, 3));
    await isPaidFor(game, schedule("EXPAND") + children(3), () => game.expand());
    await isPaidFor(game, schedule("PICK") + 3n * level + seam(5), () => game.pick(LIE.step - 9, 3));
    await isPaidFor(game, schedule("REVEAL") + children(2), () => game.reveal());
    await isPaidFor(game, schedule("PICK") + 2n * level, () => game.pick(2, 2));
    await isPaidFor(game, schedule("CHUNK"), () => game.reveal());
    const [open, dead, dues, earned] = await contract.read.claimGames([claimId(world(), game.claim)]);
    const drawn = bond - BigInt(game.state.bond);
    expect([open, dead, dues, earned]).to.deep.equal([1n, false, drawn + BigInt(game.state.spent), drawn]);
  });

  it("open_isPricedByItsPath_andByTheListThatItEnters", async () => {
    const opening = schedule("OPEN");
    for (const [levels, index, price] of [
      [1, 0, opening + level],
      [3, LIE.checkpoint, opening + 3n * level + seam(3)],
      // A range of one step: the tensor is entered, its step is proven too.
      [3, 1, opening + 3n * level + seam(3 + 5)],
    ] as const) {
      const before = await world().networkHelpers.takeSnapshot();
      const game = await opened(levels, index);
      isPaid(BigInt(game.state.spent) / BASE_FEE, price, game);
      // What names the game beside claim and challenger.
      expect(game.state.number).to.equal(numberOf(levels, index));
      expect((await world().game.read.claimGames([claimId(world(), game.claim)]))[2]).to.equal(
        BigInt(game.state.spent),
      );
      await before.restore();
    }
  });

  it("lostGame_isNoLongerDue", async () => {
    const game = await opened(0, 0, honestTrace(subject));
    await game.reveal();
    await game.concede(world().watcher);
    const [open, dead, dues] = await world().game.read.claimGames([claimId(world(), game.claim)]);
    expect([open, dead, dues]).to.deep.equal([0n, false, 0n]);
  });
});

describe("DisputeGame: what it tells", () => {
  const world = useWorld();
  const { againstLiar, against, pass, statusOf } = disputeKit(world);
  const reported = async (hash: Hex) =>
    (await gameEvents(world(), hash)).map(({ eventName, args }) => ({ eventName, args }));
  const lastHash = async (): Promise<Hex> => (await world().client.getBlock()).transactions[0]!;

  it("proof_isTold_withTheElementTheDeathAndThePayment", async () => {
    const game = await againstLiar();
    await game.descend(LIE.checkpoint, LIE.step, LIE.element);
    const w = world();
    const before = await creditOf(w, w.watcher);
    await game.prove(LIE.element);
    const events = await reported(await lastHash());
    expect(events.map(({ eventName }) => eventName)).to.deep.equal(["Proved", "ClaimDied", "GameClosed"]);
    const claim = claimId(w, game.claim);
    const bytes = Buffer.from(game.trace.tensor(LIE.step));
    const exact = Buffer.from(honestTrace(subject).tensor(LIE.step));
    expect(events[0]!.args).to.deep.equal({
      gameId: game.gameId,
      claimId: claim,
      step: LIE.step,
      element: BigInt(LIE.element),
      claimed: BigInt(bytes.readUInt32LE(4 * LIE.element)),
      exact: BigInt(exact.readUInt32LE(4 * LIE.element)),
    });
    const { pot, dues, toSink } = events[1]!.args as { pot: bigint; dues: bigint; toSink: bigint };
    const { collateral, bounty } = w.parameters;
    expect([pot, pot + toSink]).to.deep.equal([dues, collateral - bounty]);
    const { paid, outcome } = events[2]!.args as { paid: bigint; outcome: number };
    expect([paid, outcome]).to.deep.equal([(await creditOf(w, w.watcher)) - before, Outcome.challengerWon]);
    expect(paid).to.equal(BigInt(game.state.bond) + bounty + dues);
  });

  it("move_isTold_withTheStateThatItLedTo", async () => {
    const game = await (await againstLiar()).open();
    const [picked] = await reported(await lastHash());
    expect(picked).to.deep.equal({ eventName: "Picked", args: { gameId: game.gameId, state: game.packed } });
    const data = game.revealData();
    await game.reveal();
    const [moved] = await reported(await lastHash());
    expect(moved).to.deep.equal({ eventName: "Moved", args: { gameId: game.gameId, state: game.packed, data } });
    expect(packState(game.state)).to.deep.equal(game.packed);
  });

  it("concession_settlementAndCollection_areTold", async () => {
    const w = world();
    const trace = lyingTrace(subject, LIE.step, LIE.element);
    const claim = await submitted(w, subject, trace);
    const lost = await (await new GameDriver(w, subject, trace, claim, w.mallory).open()).reveal();
    const other = await new GameDriver(w, subject, trace, claim).open();
    const won = await new GameDriver(w, subject, trace, claim, w.requester).open();
    await lost.concede(w.mallory);
    const id = claimId(w, claim);
    expect((await reported(await lastHash()))[0]).to.deep.equal({
      eventName: "GameClosed",
      args: { gameId: lost.gameId, claimId: id, outcome: Outcome.workerWon, paid: BigInt(lost.state.bond) },
    });
    await won.concede(w.worker);
    await other.settle(w.mallory);
    const [closed] = await reported(await lastHash());
    const { paid, ...told } = closed!.args as { paid: bigint };
    expect(closed!.eventName).to.equal("GameClosed");
    expect(told).to.deep.equal({ gameId: other.gameId, claimId: id, outcome: Outcome.settled });
    const settlement = paid - BigInt(other.state.bond) - BigInt(other.state.spent);
    const price = (await w.client.getBlock()).baseFeePerGas!;
    expect(isPaidAsBurnt(settlement, other.gas.at(-1)!.gas, price), `${settlement}`).to.equal(true);
    expect(await w.game.read.stateHash([other.gameId])).to.equal(zeroHash);
    const [, , , earned] = await w.game.read.claimGames([id]);
    await w.game.write.collect([claimKey(w, claim)]);
    const [collected] = await reported(await lastHash());
    expect([collected!.eventName, (collected!.args as { amount: bigint }).amount]).to.deep.equal([
      "EarningsCollected",
      earned,
    ]);
    expect((await w.game.read.claimGames([id]))[3]).to.equal(0n);
  });

  it("clocks_moveInTheLastSecond_timeoutAfterIt", async () => {
    const w = world();
    const revert = (sent: Promise<unknown>, name: string): Promise<void> =>
      w.viem.assertions.revertWithCustomError(sent, w.game, name as never);
    const at = (second: number) => w.networkHelpers.time.setNextBlockTimestamp(second);
    const game = await (await againstLiar()).open();
    const { since, workerSeconds, challengerSeconds } = game.state;
    expect([workerSeconds, challengerSeconds]).to.deep.equal([3_600, 3_600]);
    const before = await w.networkHelpers.takeSnapshot();
    await at(since + 3_600);
    await revert(w.game.write.timeout([game.packed, game.key]), "ClockRunning");
    await before.restore();
    await at(since + 3_601);
    await revert(w.game.write.reveal([game.packed, game.revealData()]), "ClockExpired");
    await before.restore();
    await at(since + 3_601);
    await w.game.write.timeout([game.packed, game.key]);
    await before.restore();
    await at(since + 3_600);
    await game.reveal();
    expect([game.state.workerSeconds, game.state.since]).to.deep.equal([0, since + 3_600]);
    await at(since + 3_600 + 1_000);
    await game.pick(LIE.checkpoint, 3);
    expect([game.state.challengerSeconds, game.state.workerSeconds]).to.deep.equal([2_600, 0]);
  });

  it("clocks_growWithTheWork", async () => {
    const other = await createWorld({ rate: 100n, maxWork: 1_000_000n });
    const trace = lyingTrace(subject, LIE.step, LIE.element);
    const claim = await submitted(other, subject, trace, { window: 11_800 });
    const game = await new GameDriver(other, subject, trace, claim).open();
    const seconds = 3_600 + Math.floor((2 * Number(claim.job.work)) / 100);
    expect(seconds).to.be.greaterThan(3_600);
    expect([game.state.workerSeconds, game.state.challengerSeconds]).to.deep.equal([seconds, seconds]);
  });

  it("prove_inTheLastSecond_holds_andWhileTheWorkersTimeIsUpToo", async () => {
    const game = await againstLiar();
    await game.descend(LIE.checkpoint, LIE.step, LIE.element);
    const w = world();
    const last = game.state.since + game.state.challengerSeconds;
    await w.networkHelpers.time.setNextBlockTimestamp(last);
    await game.prove(LIE.element);
    expect(await statusOf(game)).to.equal(ClaimStatus.refuted);
    const direct = await (await against(lyingTrace(subject, 3, 5))).open(3, 1);
    await pass(10_000);
    await direct.prove(5);
    expect(await statusOf(direct)).to.equal(ClaimStatus.refuted);
  });
});
