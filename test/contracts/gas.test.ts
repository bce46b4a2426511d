import { expect } from "chai";
import { GameDriver } from "../../test-support/protocol/gameDriver.ts";
import { lyingTrace, toyProgram } from "../../test-support/protocol/toyProgram.ts";
import { useWorld } from "../../test-support/protocol/useWorld.ts";
import { gameEvents, gasOf, submitted } from "../../test-support/protocol/world.ts";

/** contracts/lib/GasSchedule.sol, for reveals of 16 children and picks that cross into another list. */
const SCHEDULE: Record<string, bigint> = {
  open: 113_000n,
  pick: 71_000n,
  expand: 71_900n,
  reveal: 70_400n,
};
const CHUNK = 66_000n;

describe("GasSchedule", () => {
  const world = useWorld();

  it("moves_inFullLists_costAtMostTheirPrice_andNotMuchLess", async () => {
    // 16 checkpoints, 16 steps, 16 chunks: every reveal has 16 children.
    const toy = toyProgram(2_048, [...new Array<number>(15).fill(1), 16]);
    const trace = lyingTrace(toy, 20, 2_047);
    const game = new GameDriver(world(), toy, trace, await submitted(world(), toy, trace.root));
    await game.descend(15, 20, 2_047);
    const names = game.gas.map(({ move }) => move);
    expect(names.join(" ")).to.equal("open reveal pick expand pick reveal pick reveal");
    game.gas.forEach(({ move, gas }, n) => {
      const price = n === 7 ? CHUNK : SCHEDULE[move]!;
      expect(gas <= price, `${move} costs ${gas}, pays ${price}`).to.equal(true);
      // A pick within a list is cheaper than one that crosses.
      if (n !== 6) expect(gas * 105n >= price * 100n, `${move} costs ${gas}, pays ${price}`).to.equal(true);
    });
  });

  it("open_atALeaf_isPaidForTheCrossing", async () => {
    const toy = toyProgram(300, [3, 1, 5, 6, 7]);
    const trace = lyingTrace(toy, 12, 299);
    const game = await new GameDriver(world(), toy, trace, await submitted(world(), toy, trace.root)).open(3, 3);
    const { baseFeePerGas } = await world().client.getBlock();
    expect(BigInt(game.state.spent) >= game.gas[0]!.gas * baseFeePerGas!).to.equal(true);
  });

  it("prove_isPaidAtWhatItCosts", async () => {
    const toy = toyProgram(300, [1]);
    const trace = lyingTrace(toy, 0, 7);
    const game = await new GameDriver(world(), toy, trace, await submitted(world(), toy, trace.root)).open(0, 0);
    const before = game.state;
    const { game: contract, watcher, client, bond, parameters } = world();
    const sent = await contract.write.prove([game.gameId, before, game.claim.job, game.proof(7)], {
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
