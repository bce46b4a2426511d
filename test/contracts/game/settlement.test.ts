import { expect } from "chai";
import fc from "fast-check";
import { encodeFunctionData, type Hex } from "viem";
import { disputeGameAbi } from "../../../src/chain/abi/disputeGame.ts";
import { hopOf } from "../../../src/chain/market/revealLevels.ts";
import { Level } from "../../../src/chain/structs.ts";
import { GameDriver } from "../../../testkit/protocol/gameDriver.ts";
import { isPaidAsBurnt, nextPrice, schedule } from "../../../testkit/protocol/schedule.ts";
import { lyingTrace, chainProgram, traceNodes } from "../../../testkit/protocol/chainProgram.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { claimId, claimKey, createWorld, creditOf, gasOf, submitted } from "../../../testkit/protocol/world.ts";
import { ETHER, SINK } from "../../../testkit/protocol/deployWorld.ts";

const GWEI = 10n ** 9n;
const subject = chainProgram(300, [3, 1, 5]);
const trace = lyingTrace(subject, 6, 299);
const [SETTLE, LAST] = [schedule("SETTLE"), schedule("LAST")];
/** What the first payment to an account without credit burns more, gas. */
const EMPTY = 17_100n;
const NODES = traceNodes(trace);

describe("DisputeGame: settlements", () => {
  const world = useWorld();
  const setBaseFee = (fee: bigint) => world().networkHelpers.setNextBlockBaseFeePerGas(fee);
  const sinkCredit = async () => (await world().vault.read.accountOf([SINK]))[0];

  /** Games left behind by a claim that died at a base fee, and what of its collateral was kept for them. */
  async function leftBehind(
    games: number,
    deathFee: bigint,
  ): Promise<{ left: GameDriver[]; kept: () => Promise<bigint> }> {
    const w = world();
    const claim = await submitted(w, subject, trace);
    const left: GameDriver[] = [];
    for (const [levels, index] of NODES.slice(0, games)) {
      await setBaseFee(GWEI);
      left.push(await new GameDriver(w, subject, trace, claim, w.mallory).open(levels, index));
    }
    const winner = await new GameDriver(w, subject, trace, claim).open();
    await setBaseFee(deathFee);
    await winner.concede(w.worker);
    return { left, kept: async () => (await w.game.read.claimGames([claimId(w, claim)]))[2] };
  }
  const spent = (games: readonly GameDriver[]): bigint =>
    games.reduce((sum, { state }) => sum + BigInt(state.spent), 0n);

  /**
   * Settles a game of mallory's, at a base fee in gwei, and expects that the price pays for the gas that was burnt.
   * @param price What a unit of gas is paid.
   * @returns What mallory got for the settlement.
   */
  async function settled(g: GameDriver, fee: bigint, price = fee * GWEI): Promise<bigint> {
    const before = await creditOf(world(), world().mallory);
    await setBaseFee(fee * GWEI);
    await g.settle(world().mallory);
    const got = (await creditOf(world(), world().mallory)) - before - world().bond - BigInt(g.state.spent);
    const { gas } = g.gas.at(-1)!;
    expect(isPaidAsBurnt(got, gas, price), `${got} for ${gas}`).to.equal(true);
    return got;
  }

  it("death_keepsForEachGameItsSettlement_atTheHighestPriceOfTheNextBlock", async () => {
    const { left, kept } = await leftBehind(3, 20n * GWEI);
    const price = nextPrice(20n * GWEI, world().parameters.priceCap);
    expect(await kept()).to.equal(spent(left) + (3n * SETTLE + LAST) * price);
  });

  it("death_aboveTheCap_keepsTheCap", async () => {
    const { left, kept } = await leftBehind(2, 300n * GWEI);
    expect(await kept()).to.equal(spent(left) + (2n * SETTLE + LAST) * world().parameters.priceCap);
  });

  it("settle_whenGasIsCheaper_isPaidWhatItCosts_theRestGoesToTheSinkWithTheLast", async () => {
    const { left, kept } = await leftBehind(3, 40n * GWEI);
    const [atDeath, set] = [await sinkCredit(), await kept()];
    let paid = spent(left);
    for (const g of left) {
      expect(await sinkCredit()).to.equal(atDeath);
      paid += await settled(g, 2n);
    }
    expect((await sinkCredit()) - atDeath).to.equal(set - paid);
    expect(await kept()).to.equal(0n);
  });

  it("settle_whenGasIsDearer_isPaidThePriceThatWasSetAside_theRestGoesToTheSinkWithTheLast", async () => {
    const { left, kept } = await leftBehind(2, 8n * GWEI);
    const price = nextPrice(8n * GWEI, world().parameters.priceCap);
    expect(price).to.equal(9n * GWEI + 1n);
    const [atDeath, set] = [await sinkCredit(), await kept()];
    let paid = spent(left);
    for (const g of left) paid += await settled(g, 30n, price);
    expect((await sinkCredit()) - atDeath).to.equal(set - paid);
  });

  it("settle_promptlyByAPlainAccount_costsTheHonestNothing_lastOrNot", async () => {
    const { left } = await leftBehind(3, 16n * GWEI);
    for (const g of left) {
      const before = await creditOf(world(), world().mallory);
      await setBaseFee(18n * GWEI);
      await g.settle(world().mallory);
      const gain = (await creditOf(world(), world().mallory)) - before - world().bond;
      const burnt = g.gas[0]!.gas * GWEI + g.gas[1]!.gas * 18n * GWEI;
      expect(gain >= burnt && gain * 100n <= burnt * 103n, `${gain} for ${burnt}`).to.equal(true);
    }
  });

  it("settlementsBatchedByAContract_areRefused_andItsOpeningsWereNotPaid", async () => {
    const w = world();
    const batcher = await w.viem.deployContract("ContractChallenger");
    const claim = await submitted(w, subject, trace);
    await w.vault.write.deposit([batcher.address, 6n * w.bond], { account: w.mallory.account });
    const batch = (calls: Hex[]) => batcher.write.batch([w.game.address, calls], { account: w.mallory.account });
    const opened = await batch(
      NODES.map(([levels, index]) => {
        const args = new GameDriver(w, subject, trace, claim).openArgs(levels, index);
        return encodeFunctionData({ abi: disputeGameAbi, functionName: "open", args });
      }),
    );
    const states = await w.game.getEvents.Picked(
      {},
      {
        blockHash: (await w.client.getTransactionReceipt({ hash: opened })).blockHash,
      },
    );
    expect(states.length).to.equal(6);
    const winner = await new GameDriver(w, subject, trace, claim).open();
    await setBaseFee(5n * GWEI);
    await winner.concede(w.worker);
    const calls = states.map(({ args }) =>
      encodeFunctionData({ abi: disputeGameAbi, functionName: "settle", args: [args.state!] }),
    );
    await w.viem.assertions.revertWithCustomError(batch(calls), w.game, "NotPlainAccount");
    let burnt = 0n;
    for (const { args } of states) {
      await setBaseFee(GWEI);
      burnt += await gasOf(w, await w.game.write.settle([args.state!], { account: w.mallory.account }));
    }
    // The first settlement also fills the contract's empty account, which is not paid.
    const paid = ((await w.vault.read.accountOf([batcher.address]))[0] - 6n * w.bond) / GWEI;
    expect(paid >= burnt - EMPTY && paid * 100n <= (burnt - EMPTY) * 101n, `${paid} for ${burnt}`).to.equal(true);
  });

  it("settle_estimatedAtABaseFeeOf0_hasGasEnough_lastOrNot", async () => {
    const { left } = await leftBehind(2, 10n * GWEI);
    for (const g of left) {
      const data = encodeFunctionData({ abi: disputeGameAbi, functionName: "settle", args: [g.packed] });
      const account = world().mallory.account;
      const estimate = await world().client.estimateGas({ account, to: world().game.address, data, gasPrice: 0n });
      await setBaseFee(11n * GWEI);
      await g.settle(world().mallory);
      const { gas } = g.gas.at(-1)!;
      expect(estimate >= gas, `${estimate} for ${gas}`).to.equal(true);
    }
  });
});

describe("DisputeGame: settlements in any order", () => {
  // A collateral that is often short of what the games are due, and often is not.
  const world = useWorld(() =>
    createWorld({ maxStepGas: 1_000_000, collateral: ETHER / 50n + 3_800_000n * 50n * GWEI }),
  );
  const fee = fc.oneof(fc.integer({ min: 0, max: 60 }), fc.constantFrom(45, 50, 80));
  const game = fc.record({
    node: fc.nat(NODES.length - 1),
    by: fc.nat(2),
    moves: fc.nat(7),
    fee,
    settleFee: fee,
    order: fc.nat(),
    helper: fc.boolean(),
  });

  it("anyGames_anyBaseFees_anyOrder_leaveNothingInCustody_andPayNoMoreThanWasBurnt", async function () {
    this.timeout(180_000);
    const property = fc.asyncProperty(
      fc.uniqueArray(game, { minLength: 1, maxLength: 18, size: "max", selector: ({ node, by }) => `${node} ${by}` }),
      fee,
      async (plans, deathFee) => {
        const w = world();
        const before = await w.networkHelpers.takeSnapshot();
        const accounts = [w.mallory, w.watcher, w.requester];
        for (const { account } of [...accounts, w.worker]) {
          await w.networkHelpers.setBalance(account.address, 1_000_000n * ETHER);
        }
        const owned = async () => {
          let sum = 0n;
          for (const actor of [...accounts, w.worker]) {
            const [credit, staked] = await w.vault.read.accountOf([actor.account.address]);
            sum += credit + staked;
          }
          return sum;
        };
        const claim = await submitted(w, subject, trace, { fee: 0n });
        const had = await owned();
        let burnt = 0n;
        const at = async (gwei: number, move: () => Promise<unknown>, g: GameDriver): Promise<void> => {
          await w.networkHelpers.setNextBlockBaseFeePerGas(BigInt(gwei) * GWEI);
          await move();
          const { gasPrice } = (await w.client.getBlock({ includeTransactions: true })).transactions[0]!;
          burnt += g.gas.at(-1)!.gas * (gasPrice! < w.parameters.priceCap ? gasPrice! : w.parameters.priceCap);
        };
        const games: GameDriver[] = [];
        for (const plan of plans) {
          const g = new GameDriver(w, subject, trace, claim, accounts[plan.by]);
          await at(plan.fee, () => g.open(...NODES[plan.node]!), g);
          for (let n = 0; n < plan.moves && !(g.state.turn === 1 && g.state.depth === 0); n++) {
            await at(plan.fee, () => next(g, w.parameters.arityBits), g);
          }
          games.push(g);
        }
        await w.networkHelpers.setNextBlockBaseFeePerGas(BigInt(deathFee) * GWEI);
        await games[0]!.concede(w.worker);
        const rest = games.slice(1).map((g, i) => ({ g, plan: plans[i + 1]! }));
        rest.sort((a, b) => a.plan.order - b.plan.order);
        for (const { g, plan } of rest)
          await at(plan.settleFee, () => g.settle(plan.helper ? w.worker : g.challenger), g);
        const key = claimKey(w, claim);
        const [open, dead, kept, earned] = await w.game.read.claimGames([claimId(w, claim)]);
        expect([open, dead, kept]).to.deep.equal([0n, true, 0n]);
        if (earned > 0n) await w.game.write.collect([key]);
        expect(await w.vault.read.custody()).to.equal(0n);
        const [sink] = await w.vault.read.accountOf([SINK]);
        const lost = had - (await owned());
        expect(lost).to.equal(sink);
        // What the league has back beside the bounty, it has burnt (or tipped), but for two in a hundred.
        const back = w.parameters.collateral - w.parameters.bounty - lost;
        expect(back * 100n <= burnt * 102n, `${back} back, ${burnt} burnt`).to.equal(true);
        await before.restore();
      },
    );
    await fc.assert(property, { numRuns: 12, seed: 5, endOnFailure: true });
  });
});

describe("DisputeGame: settlements set aside at a spike of the base fee", () => {
  const PLAYERS = 14;
  const world = useWorld(() =>
    createWorld({ maxStepGas: 1_000_000, collateral: ETHER / 50n + 3_800_000n * 50n * GWEI }),
  );

  it("shamGamesOpenedWhenGasWasCheap_doNotMakeThePotShort_settlementsShareWhatMovesLeave", async () => {
    const w = world();
    const at = (gwei: bigint) => w.networkHelpers.setNextBlockBaseFeePerGas(gwei * GWEI);
    const claim = await submitted(w, subject, trace, { fee: 0n });
    const accounts = (await w.viem.getWalletClients()).slice(-PLAYERS);
    const sham: GameDriver[] = [];
    for (const by of accounts) {
      const owner = by.account.address;
      await w.token.write.mint([w.mallory.account.address, 6n * w.bond]);
      await w.vault.write.deposit([owner, 6n * w.bond], { account: w.mallory.account });
      for (const node of NODES) {
        await at(1n);
        sham.push(await new GameDriver(w, subject, trace, claim, by).open(...node));
      }
    }
    const before = await creditOf(w, w.watcher);
    const honest = new GameDriver(w, subject, trace, claim);
    await at(50n);
    await honest.open();
    for (const move of [() => honest.reveal(), () => honest.pick(2, 2)]) {
      await at(50n);
      await move();
    }
    await at(50n);
    await sham[0]!.concede(w.worker);
    const pot = w.parameters.collateral - w.parameters.bounty;
    const due = (g: GameDriver): bigint => w.bond - BigInt(g.state.bond) + BigInt(g.state.spent);
    const moves = sham.reduce((sum, g) => sum + due(g), due(honest));
    const gas = BigInt(sham.length) * SETTLE + LAST;
    const price = (pot - moves) / gas;
    // At the price of the death settlements alone would have taken more than there is.
    expect(price < 40n * GWEI && moves + gas * 50n * GWEI > pot, `${price} ${moves}`).to.equal(true);
    const [, , kept] = await w.game.read.claimGames([claimId(w, claim)]);
    expect(kept).to.equal(moves + gas * price - due(sham[0]!));
    // Whoever waits for the spike's end has all of it.
    await at(30n);
    await honest.settle(w.watcher);
    const [got, left] = [(await creditOf(w, w.watcher)) - before, BigInt(honest.state.bond) - w.bond];
    const settlement = got - left - due(honest);
    const { gas: burnt } = honest.gas.at(-1)!;
    expect(isPaidAsBurnt(settlement, burnt, 30n * GWEI), `${settlement} for ${burnt}`).to.equal(true);
    // Nothing stays behind.
    for (const g of sham.slice(1)) {
      await at(1n);
      await g.settle(w.mallory);
    }
    const [open, dead, over] = await w.game.read.claimGames([claimId(w, claim)]);
    expect([open, dead, over]).to.deep.equal([0n, true, 0n]);
  });
});

/** The next move of whoever is to move, towards the leftmost leaf. */
async function next(g: GameDriver, arityBits: number): Promise<unknown> {
  const { turn, depth, level, index } = g.state;
  if (turn === 1) return g.pick(index * 2 ** depth, hopOf(depth, arityBits));
  return depth === 0 && level === Level.trace ? g.expand() : g.reveal();
}
