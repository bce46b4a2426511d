import { expect } from "chai";
import { hopOf } from "../../../src/chain/market/revealLevels.ts";
import { Level, type Pick } from "../../../src/chain/structs.ts";
import { claimContentOf } from "../../../src/chain/market/ids.ts";
import { disputedProgram, disputeKit, LIE } from "../../../testkit/protocol/disputeKit.ts";
import type { GameDriver } from "../../../testkit/protocol/gameDriver.ts";
import { schedule } from "../../../testkit/protocol/schedule.ts";
import { lyingTrace, chainProgram, type GameProgram } from "../../../testkit/protocol/chainProgram.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { createWorld, gameEvents } from "../../../testkit/protocol/world.ts";

const BASE_FEE = 8n * 10n ** 9n;
const ARITY_BITS = 2;
/** A program with 16 checkpoints, 16 steps, 16 chunks: two reveals of each list. */
const FULL = chainProgram(2_048, [...new Array<number>(15).fill(1), 16]);

/** Bytes behind a call's arguments, which nobody reads, and all pay. */
type Suffix = { dataSuffix?: `0x${string}` };
const suffix = (bytes: number): Suffix => ({ dataSuffix: `0x${"ff".repeat(bytes)}` });
/** With it a transaction burns more than any move but a proof is worth. */
const DEAR = suffix(4_000);

const level = schedule("LEVEL");
const children = (hop: number): bigint => schedule("CHILD") << BigInt(hop);
const seam = (subject: GameProgram, { checkpoint, step }: Pick): bigint =>
  schedule("SEAM") +
  level * BigInt(checkpoint.siblings.length + step.siblings.length) +
  schedule("HEADER_BYTE") * BigInt(subject.commitment.header.length);

/** The next move towards a leaf of the current list. */
function next(
  game: GameDriver,
  leaf: number,
  more: Suffix,
): { name: string; price: bigint; send: () => Promise<void> } {
  const { game: contract, worker, watcher } = game.world;
  const { turn, depth, level: list } = game.state;
  const by = { account: worker.account, ...more };
  const hop = hopOf(depth, ARITY_BITS);
  if (turn === 1) {
    const pick = game.pickArgs(leaf, hop);
    const crosses = depth === hop && list !== Level.tensor;
    return {
      name: crosses ? "pick across" : "pick",
      price: schedule("PICK") + level * BigInt(pick.siblings.length) + (crosses ? seam(game.subject, pick) : 0n),
      send: () => game.run("pick", contract.write.pick([game.packed, pick], { account: watcher.account, ...more })),
    };
  }
  if (depth === 0 && list === Level.trace) {
    const [nodes, siblings] = game.expandArgs();
    const args = [game.packed, claimContentOf(game.key), nodes, siblings] as const;
    const shown = hopOf(game.trace.interior(game.checkpoint).depth, ARITY_BITS);
    return {
      name: "expand",
      price: schedule("EXPAND") + children(shown) + level * BigInt(siblings.length),
      send: () => game.run("expand", contract.write.expand(args, by)),
    };
  }
  const args = [game.packed, game.revealData()] as const;
  return {
    name: depth === 0 ? "chunk" : "reveal",
    price: depth === 0 ? schedule("CHUNK") : schedule("REVEAL") + children(hop),
    send: () => game.run("reveal", contract.write.reveal(args, by)),
  };
}

/** Makes the next move. @returns Its price, what was paid for it and what it burnt, in gas. */
async function play(game: GameDriver, leaf: number, more: Suffix = {}) {
  const { name, price, send } = next(game, leaf, more);
  const [spent, bond] = [BigInt(game.state.spent), BigInt(game.state.bond)];
  await game.world.networkHelpers.setNextBlockBaseFeePerGas(BASE_FEE);
  await send();
  const { transactions } = await game.world.client.getBlock({ includeTransactions: true });
  const drawn = (bond - BigInt(game.state.bond)) / transactions[0]!.gasPrice!;
  return { name, price, paid: drawn + (BigInt(game.state.spent) - spent) / BASE_FEE, gas: game.gas.at(-1)!.gas };
}

describe("GasSchedule: what is paid", () => {
  const world = useWorld(() => createWorld({ arityBits: ARITY_BITS, bondGas: 2_000_000 }));
  const { against } = disputeKit(world);

  async function opened(game: GameDriver, levels = 0, index = 0): Promise<{ paid: bigint; pick: Pick }> {
    const { game: contract, watcher, networkHelpers } = world();
    const args = game.openArgs(levels, index);
    await networkHelpers.setNextBlockBaseFeePerGas(BASE_FEE);
    await game.run("open", contract.write.open(args, { account: watcher.account, ...DEAR }));
    return { paid: BigInt(game.state.spent) / BASE_FEE, pick: args[2] };
  }

  /** Plays a game down to the chunk. */
  async function played(more?: Suffix) {
    const game = await against(lyingTrace(FULL, 20, 2_047), FULL);
    await opened(game);
    const moves: Awaited<ReturnType<typeof play>>[] = [];
    while (!(game.state.turn === 1 && game.state.depth === 0)) {
      const leaf = new Map<Level, number>([
        [Level.trace, 15],
        [Level.interior, 5],
        [Level.tensor, 15],
      ]).get(game.state.level)!;
      moves.push(await play(game, leaf, more));
    }
    const list = ["reveal", "pick", "reveal", "pick across"];
    expect(moves.map(({ name }) => name)).to.deep.equal(
      [list, "expand", list.slice(1), "reveal pick reveal pick chunk".split(" ")].flat(),
    );
    return moves;
  }

  it("moveThatBurnsMoreThanItsPrice_isPaidItsPrice", async () => {
    for (const { name, price, paid, gas } of await played(DEAR)) {
      expect(gas > price, name).to.equal(true);
      expect(paid, name).to.equal(price);
    }
  });

  it("moveThatBurnsLess_isPaidWhatItBurns_andAtMost700GasMore", async () => {
    for (const { name, price, paid, gas } of await played()) {
      const said = `${name} burns ${gas}, is paid ${paid}, at most ${price}`;
      expect(gas <= paid && paid <= gas + 700n && paid < price, said).to.equal(true);
    }
  });

  it("openingThatBurnsMoreThanItsPrice_isPaidItsPrice", async () => {
    for (const [levels, index, crosses] of [
      [0, 0, false],
      [2, 1, false],
      [3, LIE.checkpoint, true],
      // A range of one step: the tensor is entered.
      [3, 1, true],
    ] as const) {
      const before = await world().networkHelpers.takeSnapshot();
      const game = await against(lyingTrace(disputedProgram, LIE.step, LIE.element));
      const { paid, pick } = await opened(game, levels, index);
      const price = schedule("OPEN") + level * BigInt(levels) + (crosses ? seam(disputedProgram, pick) : 0n);
      expect(paid, `${levels} levels below the root`).to.equal(price);
      await before.restore();
    }
  });

  it("pickFromTheTraceStraightToATensor_thatBurnsMoreThanItsPrice_isPaidItsPrice", async () => {
    const subject = chainProgram(300, [1, 1, 1]);
    const game = await against(lyingTrace(subject, 1, 299), subject);
    await opened(game);
    await game.reveal();
    const { name, price, paid } = await play(game, 1, DEAR);
    expect([name, game.state.level, paid]).to.deep.equal(["pick across", Level.tensor, price]);
  });

  it("proofThatBurnsMoreThanItsPrice_isPaidItsPrice", async () => {
    const subject = chainProgram(300, [1]);
    const game = await against(lyingTrace(subject, 0, 7), subject);
    await opened(game);
    const w = world();
    await w.networkHelpers.setNextBlockBaseFeePerGas(BASE_FEE);
    const options = { account: w.watcher.account, ...suffix(40_000) };
    const sent = await w.game.write.prove([game.packed, game.claim, game.proof(7)], options);
    const [, , closed] = await gameEvents(w, sent);
    const { paid } = (closed as unknown as { args: { paid: bigint } }).args;
    const price = BigInt(subject.program.maxStepGas) + schedule("PROVE_MARGIN");
    expect((paid - w.bond - w.parameters.bounty - BigInt(game.state.spent)) / BASE_FEE).to.equal(price);
  });
});
