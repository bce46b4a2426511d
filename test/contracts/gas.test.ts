import { expect } from "chai";
import { GameDriver } from "../../test-support/protocol/gameDriver.ts";
import { lyingTrace, toyProgram } from "../../test-support/protocol/toyProgram.ts";
import { useWorld } from "../../test-support/protocol/useWorld.ts";
import { MOVE_GAS } from "../../src/chain/game/moveGas.ts";
import { gameEvents, gasOf, submitted } from "../../test-support/protocol/world.ts";

/** A program with 16 checkpoints, 16 steps, 16 chunks: every reveal has 16 children. */
const FULL = toyProgram(2_048, [...new Array<number>(15).fill(1), 16]);
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

  it("open_atALeaf_isPaidForTheCrossing", async () => {
    const toy = toyProgram(300, [3, 1, 5, 6, 7]);
    const trace = lyingTrace(toy, 12, 299);
    const game = await new GameDriver(world(), toy, trace, await submitted(world(), toy, trace)).open(3, 3);
    const { baseFeePerGas } = await world().client.getBlock();
    expect(BigInt(game.state.spent) >= game.gas[0]!.gas * baseFeePerGas!).to.equal(true);
  });

  it("prove_isPaidAtWhatItCosts", async () => {
    const toy = toyProgram(300, [1]);
    const trace = lyingTrace(toy, 0, 7);
    const game = await new GameDriver(world(), toy, trace, await submitted(world(), toy, trace)).open(0, 0);
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
});
