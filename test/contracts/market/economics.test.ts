import { readFileSync } from "node:fs";
import { expect } from "chai";
import { encodeFunctionData, type Hex } from "viem";
import { currentTables } from "../../../testkit/economics/currentTables.ts";
import { readDeployment } from "../../../testkit/economics/deployment.ts";
import {
  inEther,
  selfChallengeLoss,
  shamGameLoss,
  squattedClaimLoss,
  type Deployment,
} from "../../../testkit/economics/model.ts";
import { fillTables } from "../../../testkit/economics/page.ts";
import { chanceOfOthers, seatsOfWorkers } from "../../../testkit/economics/panels.ts";
import { disputeGameAbi } from "../../../src/chain/abi/disputeGame.ts";
import { hopOf } from "../../../src/chain/market/revealLevels.ts";
import { Level } from "../../../src/chain/structs.ts";
import { claimContentOf } from "../../../src/chain/market/ids.ts";
import { GameDriver } from "../../../testkit/protocol/gameDriver.ts";
import { honestTrace, lyingTrace, chainProgram, traceNodes } from "../../../testkit/protocol/chainProgram.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { claimKey, createWorld, postJob, submitted, requestFor } from "../../../testkit/protocol/world.ts";
import { ETHER, type Actor, type World } from "../../../testkit/protocol/deployWorld.ts";

const PAGE = "docs/economics.md";
const GWEI = 10n ** 9n;
const toy = chainProgram(300, [3, 1, 5]);
let deployment: Deployment;

const owns = async ({ vault }: World, { account }: Actor): Promise<bigint> => {
  const [credit, staked] = await vault.read.accountOf([account.address]);
  return credit + staked;
};

describe("Economics", () => {
  const world = useWorld();

  before(async function () {
    this.timeout(60_000);
    ({ deployment } = await readDeployment([4]));
  });

  it("page_isWhatTheContractsSay", async function () {
    const page = readFileSync(PAGE, "utf8");
    const squeeze = (text: string): string => text.replace(/[ -]+/g, " ");
    const renewed = fillTables(page, await currentTables());
    expect(squeeze(page), "run `npm run write -- economics`").to.equal(squeeze(renewed));
  });

  it("seatsOfPanels_goToAllWorkersAlike_andToTheFastestNoMoreThanItsTurnsSay", () => {
    const [workers, panels] = [10, 500];
    const asking = { workers, seats: 1, spread: 16 };
    const alike = seatsOfWorkers({ ...asking, isFirstFast: false }, panels);
    const expected = panels / workers;
    const deviation = alike.reduce((sum, seats) => sum + (seats - expected) ** 2 / expected, 0);
    // Chi-squared with nine degrees of freedom: 99.9 % are below.
    expect(deviation).to.be.lessThan(27.9);
    const [fast] = seatsOfWorkers({ ...asking, isFirstFast: true }, panels);
    const likely = 1 - chanceOfOthers(workers, asking.spread);
    expect(Math.abs(fast! / panels - likely)).to.be.lessThan(3 * Math.sqrt((likely * (1 - likely)) / panels));
    expect(seatsOfWorkers({ ...asking, spread: 0, isFirstFast: true }, panels)[0]).to.equal(panels);
  });

  it("shamGame_costsItsChallengerTheBond_lessAtMostWhatAFriendIsPaidAboveItsGas", async () => {
    const w = world();
    const { mallory, watcher: friend, networkHelpers, parameters } = w;
    const sham = await new GameDriver(
      w,
      toy,
      honestTrace(toy),
      await submitted(w, toy, honestTrace(toy)),
      mallory,
    ).open();
    await sham.reveal();
    await networkHelpers.time.increase(parameters.baseClock + 1);
    const before = (await owns(w, mallory)) + (await owns(w, friend));
    await networkHelpers.setNextBlockBaseFeePerGas(50n * GWEI);
    await sham.timeout(friend);
    const back = (await owns(w, mallory)) + (await owns(w, friend)) - before;
    const burnt = sham.gas.at(-1)!.gas * 50n * GWEI;
    const lost = inEther(w.bond - back + burnt);
    expect(lost).to.be.at.least(shamGameLoss(deployment, deployment.priceCap));
    expect(lost).to.be.at.most(deployment.bond);
  });

  it("squattedClaim_costsThePenalty_lessAtMostWhatAFriendIsPaidAboveItsGas", async () => {
    const w = world();
    const { market, client, networkHelpers, worker, mallory: friend } = w;
    const before = (await owns(w, worker)) + (await owns(w, friend));
    const job = await postJob(w, await requestFor(w, toy));
    await market.write.claim([job], { account: worker.account });
    await networkHelpers.time.increase(job.claimSeconds + 1);
    await networkHelpers.setNextBlockBaseFeePerGas(50n * GWEI);
    const hash = await market.write.expire([job], { account: friend.account });
    const { gasUsed } = await client.getTransactionReceipt({ hash });
    const ledger = before - (await owns(w, worker)) - (await owns(w, friend));
    const lost = inEther(ledger + gasUsed * 50n * GWEI);
    expect(lost).to.be.at.least(squattedClaimLoss(deployment, deployment.priceCap));
    expect(lost).to.be.at.most(deployment.penalty);
  });
});

/** How a caught cheat plays against itself. Fees in gwei. */
type Strategy = {
  games: number;
  /** Base fee of the moves, of the concession, and of the settlements. */
  fee: bigint;
  deathFee?: bigint;
  settleFee?: bigint;
  /** Tip of the worker's moves. */
  tip?: bigint;
  /** The games are opened by a contract, in one transaction. */
  batched?: boolean;
};

describe("Economics: a cheat that refutes itself", function () {
  this.timeout(120_000);
  // The least collateral that may be deployed, so that not many games use it up.
  const collateral = ETHER / 50n + 3_793_860n * 50n * GWEI;
  const world = useWorld(() => createWorld({ maxStepGas: 1_000_000, collateral }));
  const trace = lyingTrace(toy, 6, 299);
  const nodes = traceNodes(trace);

  /** What all its accounts lose together, in the ledger and in gas burnt, and the tips that they paid. */
  async function play(strategy: Strategy): Promise<{ lost: bigint; tips: bigint; ledger: bigint }> {
    const w = world();
    const { games: count, fee, deathFee = fee, settleFee = fee, tip = 0n } = strategy;
    const accounts = [w.mallory, w.watcher, w.requester, w.worker];
    for (const { account } of accounts) await w.networkHelpers.setBalance(account.address, 1_000n * ETHER);
    const claim = await submitted(w, toy, trace, { fee: 0n });
    const all = async (): Promise<bigint> => {
      const sums = await Promise.all(accounts.map((actor) => owns(w, actor)));
      return sums.reduce((a, b) => a + b);
    };
    const had = await all();
    let [burnt, tips, inContract] = [0n, 0n, 0n];
    const at = async (gwei: bigint, move: () => Promise<unknown>): Promise<void> => {
      await w.networkHelpers.setNextBlockBaseFeePerGas(gwei * GWEI);
      await move();
      const { gasUsed, baseFeePerGas, transactions } = await w.client.getBlock({ includeTransactions: true });
      expect(transactions.length).to.equal(1);
      burnt += gasUsed * baseFeePerGas!;
      tips += gasUsed * (transactions[0]!.gasPrice! - baseFeePerGas!);
    };
    const games: GameDriver[] = [];
    const winner = new GameDriver(w, toy, trace, claim, w.worker);
    await at(fee, () => winner.open());
    if (strategy.batched === true) {
      const batcher = await w.viem.deployContract("ContractChallenger");
      inContract = BigInt(count) * w.bond;
      await w.vault.write.deposit([batcher.address, inContract], { account: w.mallory.account });
      const calls = nodes.slice(0, count).map(([levels, index]): Hex => {
        const args = new GameDriver(w, toy, trace, claim).openArgs(levels, index);
        return encodeFunctionData({ abi: disputeGameAbi, functionName: "open", args });
      });
      await at(fee, () => batcher.write.batch([w.game.address, calls], { account: w.mallory.account }));
      const picked = await w.game.getEvents.Picked({}, { blockTag: "latest" } as never);
      await at(deathFee, () => winner.concede(w.worker));
      const before = burnt;
      for (const { args } of picked) {
        await at(settleFee, () => w.game.write.settle([args.state!], { account: w.mallory.account }));
      }
      const [credit] = await w.vault.read.accountOf([batcher.address]);
      inContract = credit - inContract;
      expect(inContract > 0n && inContract < burnt - before).to.equal(true);
    } else {
      for (let n = 0; n + 1 < count; n++) {
        const [levels, index] = nodes[n % nodes.length]!;
        const g = new GameDriver(w, toy, trace, claim, accounts[Math.floor(n / nodes.length)]);
        await at(fee, () => g.open(levels, index));
        while (!(g.state.turn === 1 && g.state.depth === 0)) await at(fee, () => move(g, tip));
        games.push(g);
      }
      await at(deathFee, () => winner.concede(w.worker));
      for (const g of games) await at(settleFee, () => g.settle(g.challenger));
    }
    const [, , , earned] = await w.game.read.claimGames([winner.state.claimId]);
    if (earned !== 0n) await w.game.write.collect([claimKey(w, claim)]);
    expect(await w.vault.read.custody()).to.equal(0n);
    const ledger = had - (await all()) - inContract;
    return { lost: ledger + burnt, tips, ledger };
  }

  /** The next move of a game, the worker's with a tip. */
  async function move(g: GameDriver, tip: bigint): Promise<unknown> {
    const { turn, depth, level, index } = g.state;
    const w = world();
    if (turn === 1) return g.pick(index * 2 ** depth, hopOf(depth, w.parameters.arityBits));
    const fees = { account: w.worker.account, maxFeePerGas: 1_000n * GWEI, maxPriorityFeePerGas: tip * GWEI };
    if (depth !== 0 || level !== Level.trace) {
      return g.run("reveal", w.game.write.reveal([g.packed, g.revealData()], fees));
    }
    return g.run("expand", w.game.write.expand([g.packed, claimContentOf(g.key), ...g.expandArgs()], fees));
  }

  const here = (): Deployment => ({ ...deployment, collateral: inEther(collateral), worstChallenger: 2_542_460 });
  const gwei = 1e-9;

  it("inOneGame_losesAtLeastWhatTheTableSays", async () => {
    const { lost, ledger } = await play({ games: 1, fee: 25n });
    expect(inEther(lost)).to.be.at.least(selfChallengeLoss(here(), 25 * gwei, "one game"));
    expect(ledger < collateral).to.equal(true);
  });

  it("inManyGames_losesAtLeastWhatTheTableSays_thoughTheSinkGetsNothing", async () => {
    const { lost, tips, ledger } = await play({ games: 19, fee: 50n });
    expect(inEther(lost + tips)).to.be.at.least(selfChallengeLoss(here(), 50 * gwei, "many games"));
    // Nearly all of it is burnt: no more than the cheaper settlements' part is left.
    expect(ledger * 50n < collateral, String(ledger)).to.equal(true);
  });

  it("inManyGames_ofWhichItWaitsWithTheSettlementsForCheapGas_losesAsMuch", async () => {
    const { lost, tips, ledger } = await play({ games: 13, fee: 10n, deathFee: 50n, settleFee: 1n });
    expect(inEther(lost + tips)).to.be.at.least(selfChallengeLoss(here(), 50 * gwei, "many games"));
    expect(ledger > 0n).to.equal(true);
  });

  it("inManyGames_thatAContractOpensInOneTransaction_losesAsMuch", async () => {
    const { lost, tips } = await play({ games: 6, fee: 20n, batched: true });
    expect(inEther(lost + tips)).to.be.at.least(selfChallengeLoss(here(), 20 * gwei, "many games"));
  });

  it("inBlocksOfItsOwn_losesAtLeastWhatTheTableSays_theTipsComeBack", async () => {
    const { lost, tips } = await play({ games: 9, fee: 40n, tip: 10n });
    expect(tips > 0n).to.equal(true);
    expect(inEther(lost)).to.be.at.least(selfChallengeLoss(here(), 40 * gwei, "own blocks"));
    // Such tips are all that it wins: with them it has lost what others lose.
    expect(inEther(lost + tips)).to.be.at.least(selfChallengeLoss(here(), 40 * gwei, "many games"));
  });
});
