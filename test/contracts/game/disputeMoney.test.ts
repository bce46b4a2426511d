import { expect } from "chai";
import { ClaimStatus } from "../../../src/chain/structs.ts";
import type { Trace } from "../../../src/program/trace/trace.ts";
import { GameDriver } from "../../../testkit/protocol/gameDriver.ts";
import { isPaidAsBurnt } from "../../../testkit/protocol/schedule.ts";
import { honestTrace, lyingTrace, chainProgram, traceNodes } from "../../../testkit/protocol/chainProgram.ts";
import { freeze } from "../../../testkit/protocol/reports.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { vaultEntries } from "../../../testkit/protocol/vaultEntries.ts";
import { claimId, claimKey, createWorld, creditOf, gasOf, jobId, submitted } from "../../../testkit/protocol/world.ts";
import { ETHER, SINK, type Actor, type World } from "../../../testkit/protocol/deployWorld.ts";

const GWEI = 10n ** 9n;
const subject = chainProgram(300, [3, 1, 5]);

/** Sum of all that the vault owes the named accounts, and what the market holds. */
async function owed({ vault, worker, watcher, requester, mallory, stranger }: World): Promise<bigint> {
  let sum = await vault.read.custody();
  const actors = [worker, watcher, requester, mallory, stranger];
  for (const address of [...actors.map((a) => a.account.address), SINK] as const) {
    const [credit, staked, , withdrawing] = await vault.read.accountOf([address]);
    sum += credit + staked + withdrawing;
  }
  return sum;
}

const game = (world: World, trace: Trace, claim: GameDriver["claim"], by?: Actor) =>
  new GameDriver(world, subject, trace, claim, by);
const collect = ({ game: contract, ...world }: World, { job, worker, root, collateral }: GameDriver["claim"]) =>
  contract.write.collect([{ jobId: jobId({ game: contract, ...world }, job), worker, root, collateral }]);
/** The next reveal of a game, with a tip: what it burnt, and its price. */
async function revealed(g: GameDriver, tip: bigint): Promise<{ gas: bigint; price: bigint }> {
  const args = [g.packed, g.revealData()] as const;
  const fees = { maxFeePerGas: 1_000n * GWEI, maxPriorityFeePerGas: tip };
  const sent = g.world.game.write.reveal(args, { account: g.world.worker.account, ...fees });
  await g.run("reveal", sent);
  const { gasUsed, effectiveGasPrice } = await g.world.client.getTransactionReceipt({ hash: await sent });
  return { gas: gasUsed, price: effectiveGasPrice };
}
const setBaseFee = ({ networkHelpers }: World, fee: bigint) => networkHelpers.setNextBlockBaseFeePerGas(fee);

const baseFee = async ({ client }: World): Promise<bigint> => (await client.getBlock()).baseFeePerGas!;

describe("DisputeGame: money", () => {
  const world = useWorld();
  const revert = (sent: Promise<unknown>, name: string): Promise<void> =>
    world().viem.assertions.revertWithCustomError(sent, world().game, name as never);
  const sinkCredit = async () => (await world().vault.read.accountOf([SINK]))[0];
  const solvent = async () =>
    expect(await owed(world())).to.equal(await world().token.read.balanceOf([world().vault.address]));

  it("winner_getsBondOwnGasAndBounty_restToTheSink", async () => {
    const { watcher, vault, worker, parameters } = world();
    const trace = lyingTrace(subject, 6, 299);
    const claim = await submitted(world(), subject, trace);
    const g = game(world(), trace, claim);
    await (await g.descend(2, 6, 299)).prove(299);
    const gain = (await creditOf(world(), watcher)) - 20n * ETHER;
    expect(gain > parameters.bounty && gain < parameters.bounty + ETHER / 100n, String(gain)).to.equal(true);
    expect((await vault.read.accountOf([worker.account.address]))[1]).to.equal(10n * ETHER - parameters.collateral);
    expect((await sinkCredit()) > (parameters.collateral * 95n) / 100n).to.equal(true);
    await collect(world(), claim);
    // Nothing is left behind but the fee of the job, which is open again.
    expect(await vault.read.custody()).to.equal(ETHER);
    await solvent();
  });

  it("workersMoves_arePaidFromTheBondAtOnce_evenIfTheClaimDies", async () => {
    const { worker, watcher, game: contract, bond } = world();
    const trace = lyingTrace(subject, 6, 299);
    const claim = await submitted(world(), subject, trace);
    const g = await game(world(), trace, claim).open();
    await setBaseFee(world(), 20n * GWEI);
    const { gas, price } = await revealed(g, 3n * GWEI);
    const [, , , earned] = await contract.read.claimGames([claimId(world(), claim)]);
    // What the transaction burnt and its tip, and hardly more.
    expect(price).to.equal(23n * GWEI);
    expect(earned >= gas * price && earned * 100n <= gas * price * 102n, String(earned)).to.equal(true);
    expect(g.state.bond).to.equal(bond - earned);
    await collect(world(), claim);
    expect(await creditOf(world(), worker)).to.equal(10n * ETHER + earned);
    await g.concede(worker);
    // The bond comes back whole, what was drawn from it included.
    expect((await creditOf(world(), watcher)) > 20n * ETHER + world().parameters.bounty).to.equal(true);
    await solvent();
  });

  it("price_isCapped", async () => {
    const trace = honestTrace(subject);
    const claim = await submitted(world(), subject, trace);
    const g = await game(world(), trace, claim).open();
    await world().networkHelpers.setBalance(world().worker.account.address, 10_000n * ETHER);
    await setBaseFee(world(), 500n * GWEI);
    const { gas } = await revealed(g, GWEI);
    const paid = (world().bond - g.state.bond) / (50n * GWEI);
    expect(paid >= gas && paid * 100n <= gas * 102n, String(paid)).to.equal(true);
  });

  it("tip_isPaidUpToAQuarterOfTheBaseFee", async () => {
    const trace = honestTrace(subject);
    const claim = await submitted(world(), subject, trace);
    const g = await game(world(), trace, claim).open();
    await setBaseFee(world(), 20n * GWEI);
    const { gas, price } = await revealed(g, 9n * GWEI);
    expect(price).to.equal(29n * GWEI);
    const paid = (world().bond - g.state.bond) / (25n * GWEI);
    expect(paid >= gas && paid * 100n <= gas * 102n, String(paid)).to.equal(true);
  });

  it("losingChallenger_paysTheWorkerItsBond", async () => {
    const { worker, watcher, bond } = world();
    const trace = honestTrace(subject);
    const claim = await submitted(world(), subject, trace);
    const g = game(world(), trace, claim);
    await g.descend(2, 6, 0);
    await g.concede(watcher);
    await collect(world(), claim);
    expect(await creditOf(world(), watcher)).to.equal(20n * ETHER - bond);
    expect(await creditOf(world(), worker)).to.equal(10n * ETHER + bond);
    await solvent();
  });

  it("fortyShamGames_doNotStarveAnHonestWorker", async () => {
    // Each reveal pays at minimum what it costs at the base fee, at once.
    const { worker, game: contract } = world();
    const trace = honestTrace(subject);
    const claim = await submitted(world(), subject, trace);
    const g = await game(world(), trace, claim, world().mallory).open();
    const hash = await contract.write.reveal([g.packed, g.revealData()], { account: worker.account });
    const { baseFeePerGas } = await world().client.getBlock();
    const [, , , earned] = await contract.read.claimGames([claimId(world(), claim)]);
    expect(earned >= (await gasOf(world(), hash)) * baseFeePerGas!).to.equal(true);
  });

  it("parallelGames_dieTogether_eachMadeWhole", async () => {
    const w = world();
    const trace = lyingTrace(subject, 6, 299);
    const claim = await submitted(w, subject, trace);
    const first = await game(w, trace, claim).open();
    const second = game(w, trace, claim, w.mallory);
    await second.descend(2, 6, 299);
    const third = await game(w, trace, claim, w.requester).open(3 - 1, 2);
    const requesterBefore = await creditOf(w, w.requester);
    await second.prove(299);
    const id = claimId(w, claim);
    expect((await w.game.read.claimGames([id])).slice(0, 2)).to.deep.equal([2n, true]);
    await revert(w.game.write.reveal([first.packed, first.revealData()]), "ClaimDead");
    await revert(w.game.write.concede([first.packed, first.key], { account: w.watcher.account }), "ClaimDead");
    await w.networkHelpers.time.increase(10_000);
    await revert(w.game.write.timeout([first.packed, first.key]), "ClaimDead");
    await first.settle(w.mallory);
    const forFirst = (await creditOf(w, w.watcher)) - 20n * ETHER - BigInt(first.state.spent);
    expect(isPaidAsBurnt(forFirst, first.gas.at(-1)!.gas, await baseFee(w)), `${forFirst}`).to.equal(true);
    await revert(w.game.write.settle([first.packed]), "StaleState");
    await third.settle(w.mallory);
    // The last one pays the sink too.
    const forThird = (await creditOf(w, w.requester)) - requesterBefore - w.bond - BigInt(third.state.spent);
    expect(isPaidAsBurnt(forThird, third.gas.at(-1)!.gas, await baseFee(w)), `${forThird}`).to.equal(true);
    expect((await w.game.read.claimGames([id]))[0]).to.equal(0n);
    await collect(w, claim);
    expect(await w.vault.read.custody()).to.equal(ETHER);
    await solvent();
  });

  it("settle_inTheNextBlock_costsNothing_howeverTheBaseFeeRoseSinceTheOpening", async () => {
    const w = world();
    const trace = lyingTrace(subject, 6, 299);
    const claim = await submitted(w, subject, trace);
    const winner = game(w, trace, claim, w.mallory);
    await winner.descend(2, 6, 299);
    await setBaseFee(w, GWEI);
    const other = await game(w, trace, claim).open();
    await setBaseFee(w, 40n * GWEI);
    await winner.prove(299);
    await setBaseFee(w, 45n * GWEI);
    await other.settle(w.watcher);
    const [open, settle] = other.gas.map(({ gas }) => gas) as [bigint, bigint];
    const gained = (await creditOf(w, w.watcher)) - 20n * ETHER - open * GWEI - settle * 45n * GWEI;
    // The last one, of whom the schedule's parts measure 64,000.
    expect(gained >= 0n && gained < 4_000n * 45n * GWEI, String(gained)).to.equal(true);
  });

  it("aLostGame_closesNoDoorForTheNext", async () => {
    const w = world();
    const trace = lyingTrace(subject, 6, 299);
    const claim = await submitted(w, subject, trace);
    const parasite = await game(w, trace, claim, w.mallory).open();
    const honest = game(w, trace, claim);
    await honest.open();
    await parasite.concede(w.mallory);
    await (await honest.descend(2, 6, 299)).prove(299);
    const [status] = await w.market.read.claimOf([claimKey(w, claim)]);
    expect(status).to.equal(ClaimStatus.refuted);
  });

  it("settle_whileTheClaimLives_reverts", async () => {
    const trace = lyingTrace(subject, 6, 299);
    const g = await game(world(), trace, await submitted(world(), subject, trace)).open();
    await revert(world().game.write.settle([g.packed]), "ClaimAlive");
  });

  it("open_onADeadClaim_reverts", async () => {
    const trace = lyingTrace(subject, 6, 299);
    const claim = await submitted(world(), subject, trace);
    const g = await game(world(), trace, claim).open();
    await g.concede(world().worker);
    const args = game(world(), trace, claim).openArgs(1, 0);
    await revert(world().game.write.open(args, { account: world().mallory.account }), "ClaimDead");
  });

  it("selfChallenge_besideAnHonestOne_savesNothing", async () => {
    const w = world();
    const trace = lyingTrace(subject, 6, 299);
    const claim = await submitted(w, subject, trace);
    const honest = game(w, trace, claim);
    await honest.descend(2, 6, 299);
    // The cheat's other account opens and the cheat concedes before the proof lands.
    const self = await game(w, trace, claim, w.mallory).open();
    await self.concede(w.worker);
    await honest.settle(w.watcher);
    await collect(w, claim);
    const cheat = async (actor: Actor) => {
      const [credit, staked] = await w.vault.read.accountOf([actor.account.address]);
      return credit + staked;
    };
    const loss = 40n * ETHER - (await cheat(w.worker)) - (await cheat(w.mallory));
    expect(loss > (w.parameters.collateral * 95n) / 100n, String(loss)).to.equal(true);
    // And the honest challenger is whole: its own moves are paid at the base fee, its bond is back.
    expect((await creditOf(w, w.watcher)) >= 20n * ETHER).to.equal(true);
    await solvent();
  });

  it("selfChallenge_fromTheSameAddress_losesTheCollateral", async () => {
    const w = world();
    const trace = lyingTrace(subject, 6, 299);
    const claim = await submitted(w, subject, trace);
    const self = await game(w, trace, claim, w.worker).open();
    await self.concede(w.worker);
    const [credit, staked] = await w.vault.read.accountOf([w.worker.account.address]);
    expect(20n * ETHER - credit - staked > (w.parameters.collateral * 95n) / 100n).to.equal(true);
    await solvent();
  });
});

describe("DisputeGame: who ends a game for others", () => {
  const world = useWorld();
  const TIMEOUT_GAS = 150_000n;

  it("timeout_ofTheWorker_byAStranger_isPaidFromTheCollateral", async () => {
    const w = world();
    const trace = lyingTrace(subject, 6, 299);
    const claim = await submitted(w, subject, trace);
    const g = await game(w, trace, claim).open();
    await w.networkHelpers.time.increase(w.parameters.baseClock + 1);
    await setBaseFee(w, 10n * GWEI);
    await g.timeout(w.mallory);
    const paid = (await creditOf(w, w.mallory)) - 20n * ETHER;
    // The gas that was burnt, but for the sink's first credit, which is dearer.
    expect(paid >= (g.gas.at(-1)!.gas - 17_100n) * 10n * GWEI && paid < TIMEOUT_GAS * 10n * GWEI, `${paid}`).to.equal(
      true,
    );
    // The challenger has all back that it spent, and the bounty, all the same.
    const spent = BigInt(g.state.spent);
    expect(await creditOf(w, w.watcher)).to.equal(20n * ETHER + spent + w.parameters.bounty);
    expect(await owed(w)).to.equal(await w.token.read.balanceOf([w.vault.address]));
  });

  /** A game without cause whose challenger has no time left. */
  async function overdueGame() {
    const w = world();
    const trace = honestTrace(subject);
    const claim = await submitted(w, subject, trace);
    const g = await (await game(w, trace, claim).open()).reveal();
    await w.networkHelpers.time.increase(w.parameters.baseClock + 1);
    return { w, claim, g };
  }

  it("timeout_ofTheChallenger_byAStranger_isPaidFromTheBond", async () => {
    const { w, claim, g } = await overdueGame();
    await setBaseFee(w, 10n * GWEI);
    await g.timeout(w.mallory);
    const reward = TIMEOUT_GAS * 10n * GWEI;
    expect(await creditOf(w, w.mallory)).to.equal(20n * ETHER + reward);
    await collect(w, claim);
    expect(await creditOf(w, w.worker)).to.equal(10n * ETHER + w.bond - reward);
    expect(await owed(w)).to.equal(await w.token.read.balanceOf([w.vault.address]));
  });

  it("timeout_ofTheChallenger_byTheWorker_isTheWholeBond", async () => {
    const { w, claim, g } = await overdueGame();
    await g.timeout(w.worker);
    await collect(w, claim);
    expect(await creditOf(w, w.worker)).to.equal(10n * ETHER + w.bond);
  });

  it("claimOfAWorkerThatLapsed_andAskedItsStakeBack_isDisputedAndSlashedInFull", async () => {
    const w = world();
    const trace = lyingTrace(subject, 6, 299);
    const claim = await submitted(w, subject, trace);
    await freeze(w, w.manufacturer);
    const free = 10n * ETHER - w.parameters.collateral;
    await w.vault.write.requestWithdraw([free], { account: w.worker.account });
    await (await game(w, trace, claim).descend(2, 6, 299)).prove(299);
    const [, staked, locked] = await w.vault.read.accountOf([w.worker.account.address]);
    expect([staked, locked]).to.deep.equal([0n, 0n]);
    expect((await w.vault.read.accountOf([SINK]))[0] > (w.parameters.collateral * 95n) / 100n).to.equal(true);
  });

  it("claimsOfAWorkerSlashedForAnother_areDisputedAndSlashedToo", async () => {
    const w = world();
    const trace = lyingTrace(subject, 6, 299);
    const claims = [
      await submitted(w, subject, trace),
      await submitted(w, subject, trace, { salt: w.manufacturer.id }),
    ];
    for (const claim of claims) await (await game(w, trace, claim).descend(2, 6, 299)).prove(299);
    const [, staked] = await w.vault.read.accountOf([w.worker.account.address]);
    expect(staked).to.equal(10n * ETHER - 2n * w.parameters.collateral);
  });
});

describe("DisputeGame: a pot that is too short", () => {
  it("manyDearGames_sharePotProRata", async function () {
    this.timeout(120_000);
    // The smallest collateral that may be deployed, and gas far above the cap.
    const minimum = 1_250_000n + 2_543_860n;
    const w = await createWorld({ maxStepGas: 1_000_000, collateral: ETHER / 50n + minimum * 50n * GWEI });
    const challengers = [w.watcher, w.mallory, w.requester, w.stranger, w.worker];
    for (const { account } of challengers) {
      await w.networkHelpers.setBalance(account.address, 1_000_000n * ETHER);
    }
    await w.token.write.mint([w.mallory.account.address, ETHER]);
    await w.vault.write.deposit([w.stranger.account.address, ETHER], { account: w.mallory.account });
    const trace = lyingTrace(subject, 6, 299);
    const claim = await submitted(w, subject, trace);
    const games: GameDriver[] = [];
    for (const by of challengers) {
      for (const [levels, index] of traceNodes(trace)) {
        const g = game(w, trace, claim, by);
        await setBaseFee(w, 200n * GWEI);
        await g.open(levels, index);
        if (levels === 0) {
          for (const move of [
            () => g.reveal(),
            () => g.pick(2, 2),
            () => g.expand(),
            () => g.pick(0, 3),
            () => g.reveal(),
          ]) {
            await setBaseFee(w, 200n * GWEI);
            await move();
          }
        }
        games.push(g);
      }
    }
    const winner = games.pop()!;
    await setBaseFee(w, 200n * GWEI);
    await winner.concede(w.worker);
    // Nothing is left for the sink: it is not given nothing.
    expect((await vaultEntries(w)).map(([name]) => name)).to.deep.equal(["Slashed", "Given"]);
    const pot = w.parameters.collateral - w.parameters.bounty;
    const due = (g: GameDriver) => w.bond - BigInt(g.state.bond) + BigInt(g.state.spent);
    const total = [...games, winner].map(due).reduce((a, b) => a + b);
    expect(total > pot, `${total} of ${pot}`).to.equal(true);
    let left = pot - (due(winner) * pot) / total;
    // Moves alone take all there is: nothing is left for settlements.
    for (const g of games) {
      const before = await creditOf(w, g.challenger);
      expect((await w.game.read.claimGames([claimId(w, claim)]))[2]).to.equal(left);
      await setBaseFee(w, 10n * GWEI);
      await g.settle(w.watcher);
      const paid = (await creditOf(w, g.challenger)) - before - BigInt(g.state.bond);
      expect(paid).to.equal((due(g) * pot) / total);
      left -= paid;
    }
    // What divisions rounded down is the sink's; nothing is left but the job's fee.
    expect((await w.vault.read.accountOf([SINK]))[0]).to.equal(left);
    await collect(w, claim);
    expect(await w.vault.read.custody()).to.equal(ETHER);
    expect(await owed(w)).to.equal(await w.token.read.balanceOf([w.vault.address]));
  });
});
