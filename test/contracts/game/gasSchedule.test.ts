import { expect } from "chai";
import { GameDriver } from "../../../testkit/protocol/gameDriver.ts";
import { schedule } from "../../../testkit/protocol/schedule.ts";
import { lyingTrace, chainProgram } from "../../../testkit/protocol/chainProgram.ts";
import { SINK } from "../../../testkit/protocol/deployWorld.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { MOVE_GAS } from "../../../src/dispute/moveGas.ts";
import { creditOf, gameEvents, gasOf, submitted } from "../../../testkit/protocol/world.ts";

/** A program with 16 checkpoints, 16 steps, 16 chunks: every reveal has 16 children. */
const FULL = chainProgram(2_048, [...new Array<number>(15).fill(1), 16]);
const HEADER = FULL.commitment.header.length;
const STEP_LEVELS = FULL.commitment.steps.depth;
const { open, pick, seam, level, headerByte, expand, reveal, child, chunk } = MOVE_GAS;
/** The prices of the moves of a game on it, in their order. */
const PRICES = [
  open + 4 * level + seam + 4 * level + HEADER * headerByte,
  expand + 16 * child,
  pick + 4 * level + seam + STEP_LEVELS * level + HEADER * headerByte,
  reveal + 16 * child,
  pick + 4 * level,
  chunk,
].map(BigInt);

describe("GasSchedule", () => {
  const world = useWorld();

  it("moves_inFullLists_costAtMostTheirPrice_andNotMuchLess", async () => {
    const trace = lyingTrace(FULL, 20, 2_047);
    const game = new GameDriver(world(), FULL, trace, await submitted(world(), FULL, trace));
    await (await game.open(4, 15)).descend(15, 20, 2_047);
    const names = game.gas.map(({ move }) => move);
    expect(names.join(" ")).to.equal("open expand pick reveal pick reveal");
    game.gas.forEach(({ move, gas }, n) => {
      const price = PRICES[n]!;
      expect(gas <= price, `${move} costs ${gas}, pays ${price}`).to.equal(true);
      expect(gas * 105n >= price * 100n, `${move} costs ${gas}, pays ${price}`).to.equal(true);
      if (move !== "open") expect(gas <= 67_000n, `${move} costs ${gas}`).to.equal(true);
    });
  });

  it("pick_fromTheTraceStraightToATensor_isPaidAsBurnt", async () => {
    const subject = chainProgram(2_048, new Array<number>(16).fill(1));
    const trace = lyingTrace(subject, 5, 2_047);
    const game = await new GameDriver(world(), subject, trace, await submitted(world(), subject, trace)).open(0, 0);
    await game.reveal();
    const before = game.state.spent;
    await game.pick(5, 4);
    const { baseFeePerGas } = await world().client.getBlock();
    const paid = BigInt(game.state.spent - before) / baseFeePerGas!;
    const { gas } = game.gas.at(-1)!;
    expect(paid >= gas && paid * 100n <= gas * 102n, `burns ${gas}, pays ${paid}`).to.equal(true);
  });

  it("settle_costsAtMostItsPrice_andNotMuchLess_theLastOneTooThatPaysTheSink", async () => {
    const trace = lyingTrace(FULL, 20, 2_047);
    const claim = await submitted(world(), FULL, trace);
    const games: GameDriver[] = [];
    for (const index of [0, 1, 2]) games.push(await new GameDriver(world(), FULL, trace, claim).open(4, index));
    await games[0]!.concede(world().worker);
    for (const [n, price] of [
      [1, schedule("SETTLE")],
      [2, schedule("SETTLE") + schedule("LAST")],
    ] as const) {
      await games[n]!.settle(world().watcher);
      const { gas } = games[n]!.gas.at(-1)!;
      expect(gas <= price && gas * 105n >= price * 100n, `costs ${gas}, pays ${price}`).to.equal(true);
    }
  });

  /** What is paid for an opening is at least what it burns, and at most two in a hundred more. */
  async function isPaidAsBurnt(game: GameDriver, levels: number, index: number): Promise<bigint> {
    await game.open(levels, index);
    const { baseFeePerGas } = await world().client.getBlock();
    const paid = BigInt(game.state.spent) / baseFeePerGas!;
    const { gas } = game.gas.at(-1)!;
    expect(paid >= gas && paid * 100n <= gas * 102n, `burns ${gas}, pays ${paid}`).to.equal(true);
    return paid;
  }

  it("open_afterAnotherGame_costsLess_andIsPaidLess", async () => {
    const trace = lyingTrace(FULL, 20, 2_047);
    const claim = await submitted(world(), FULL, trace);
    const first = await isPaidAsBurnt(new GameDriver(world(), FULL, trace, claim), 0, 0);
    const second = await isPaidAsBurnt(new GameDriver(world(), FULL, trace, claim, world().mallory), 0, 0);
    expect(second < first - 15_000n, `${first}, ${second}`).to.equal(true);
  });

  it("open_withTheLongestHeader_nearlyAllZeros_isPaidAsBurnt_farBelowThePriceOfItsLength", async () => {
    const subject = chainProgram(300, [3, 1, 5]);
    const { header } = subject.commitment;
    // After the counts, the inputs: 14 bytes each. Of 140 more, nearly all bytes are zeros.
    const inputs = 140;
    const more = Buffer.alloc(14 * inputs);
    for (let i = 0; i < inputs; i++) more[14 * i] = more[14 * i + 8] = 2;
    const long = Buffer.concat([header.subarray(0, 30), more, header.subarray(30)]);
    long.writeUInt16BE(1 + inputs, 26);
    const padded = { ...subject, commitment: { ...subject.commitment, header: new Uint8Array(long) } };
    const trace = lyingTrace(subject, 6, 299);
    const roots = new Array<`0x${string}`>(1 + inputs).fill(subject.inputsList.root);
    const changes = { rootOnly: true, inputs: [], inputRoots: roots };
    const claim = await submitted(world(), padded, trace, changes);
    const paid = await isPaidAsBurnt(new GameDriver(world(), padded, trace, claim), 2, 2);
    expect(paid < BigInt(open + 2 * level + seam + 2 * level + long.length * headerByte - 40_000)).to.equal(true);
  });

  it("open_atALeaf_isPaidForTheCrossing", async () => {
    const subject = chainProgram(300, [3, 1, 5, 6, 7]);
    const trace = lyingTrace(subject, 12, 299);
    const game = await new GameDriver(world(), subject, trace, await submitted(world(), subject, trace)).open(3, 3);
    const { baseFeePerGas } = await world().client.getBlock();
    expect(BigInt(game.state.spent) >= game.gas[0]!.gas * baseFeePerGas!).to.equal(true);
  });

  /** Gives the sink credit, as after the first claim that died. */
  async function fillSink(): Promise<void> {
    const { token, vault, watcher } = world();
    await token.write.mint([watcher.account.address, 1n]);
    await vault.write.deposit([SINK, 1n], { account: watcher.account });
  }

  it("prove_isPaidAtWhatItCosts", async () => {
    await fillSink();
    const subject = chainProgram(300, [1]);
    const trace = lyingTrace(subject, 0, 7);
    const game = await new GameDriver(world(), subject, trace, await submitted(world(), subject, trace)).open(0, 0);
    const before = game.state;
    const { game: contract, watcher, client, bond, parameters } = world();
    const sent = await contract.write.prove([game.packed, game.claim, game.proof(7)], {
      account: watcher.account,
    });
    const { baseFeePerGas } = await client.getBlock();
    const [, , closed] = await gameEvents(world(), sent);
    const paid = (closed as unknown as { args: { paid: bigint } }).args.paid;
    const forProof = (paid - bond - parameters.bounty - before.spent) / baseFeePerGas!;
    const gas = await gasOf(world(), sent);
    expect(forProof >= gas && forProof * 100n <= gas * 115n, `${forProof} for ${gas}`).to.equal(true);
  });

  it("timeout_isPaidAtWhatItCosts_andNoMore_whereTheCallerHasCredit", async () => {
    const w = world();
    await fillSink();
    const trace = lyingTrace(FULL, 20, 2_047);
    const game = await new GameDriver(w, FULL, trace, await submitted(w, FULL, trace)).open(4, 15);
    await w.networkHelpers.time.increase(w.parameters.baseClock + 1);
    const before = await creditOf(w, w.mallory);
    await game.timeout(w.mallory);
    const { baseFeePerGas } = await w.client.getBlock();
    const paid = ((await creditOf(w, w.mallory)) - before) / baseFeePerGas!;
    const { gas } = game.gas.at(-1)!;
    expect(paid >= gas && paid * 100n <= gas * 115n, `burns ${gas}, pays ${paid}`).to.equal(true);
  });
});
