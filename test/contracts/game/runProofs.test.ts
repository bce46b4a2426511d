import { expect } from "chai";
import type { Hex } from "viem";
import { ClaimStatus, Level, type Pick } from "../../../src/chain/structs.ts";
import { pickBelow } from "../../../src/dispute/pick.ts";
import type { GameState } from "../../../src/chain/market/state.ts";
import { depthOf } from "../../../src/program/merkle/sizes.ts";
import { executeItems } from "../../../src/runs/executeRun.ts";
import { runProgram, RUN_STEPS, type RunRanges } from "../../../testkit/programs/runProgram.ts";
import { runOf, type OwnRun, type RunLie } from "../../../testkit/programs/runsOf.ts";
import { refusalOf } from "../../../testkit/protocol/refusalOf.ts";
import { claimedRun, RunGame, type ClaimedRun } from "../../../testkit/protocol/runGame.ts";
import { numberOf } from "../../../testkit/protocol/gameDriver.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { createWorld } from "../../../testkit/protocol/world.ts";
import { everyFourth, itAtLength, itInTime } from "../../../testkit/atLength.ts";
import type { World } from "../../../testkit/protocol/deployWorld.ts";

const ROOT: Hex = `0x${"ab".repeat(32)}`;

/** The last step of the programs, by their ranges. */
const LAST = { two: RUN_STEPS.last, one: RUN_STEPS.last, step: 0 } as const;

/**
 * Has a worker lie in a run, and a challenger refute it from the first node that differs.
 * @param own The challenger's execution.
 */
async function refutes(
  world: World,
  ranges: RunRanges,
  items: number,
  lie: RunLie,
  own: Promise<OwnRun> = runOf(runProgram(ranges), items),
): Promise<RunGame> {
  const claimed = await claimedRun(world, await runOf(runProgram(ranges), items, lie));
  const game = new RunGame(world, claimed, await own);
  await game.prove(await game.proof());
  expect(game.state).to.include({ level: Level.tensor, item: lie.item, step: lie.step });
  expect(await game.status()).to.equal(ClaimStatus.refuted);
  return game;
}

describe("DisputeGame: a lie in a run", () => {
  const world = useWorld();

  const places = [1, 2, 3, 5, 16, 17].flatMap((items) =>
    [...new Set([0, Math.floor(items / 2), items - 1])].map((item) => [items, item] as const),
  );
  for (const [items, item] of everyFourth(places, 0)) {
    it(`inItem${item}Of${items}_isRefuted_whateverTheRangesOfTheProgramAre`, async () => {
      for (const ranges of ["two", "one", "step"] as const)
        await refutes(world(), ranges, items, { item, step: LAST[ranges], element: 299 });
    });
  }

  for (const [reads, step] of everyFourth(Object.entries(RUN_STEPS), 0)) {
    it(`inWhatReads_${reads}_isRefuted_inTheFirstTheMiddleAndTheLastItem`, async () => {
      for (const item of [0, 3, 6]) await refutes(world(), "two", 7, { item, step, element: 130 });
    });
  }

  it("inAnItemAbove255_isRefuted_byAProofThatReadsWhatIsThatItemsOwn", async () => {
    const program = runProgram("two");
    const own = runOf(program, 300);
    for (const [item, step] of [
      [256, RUN_STEPS.index],
      [299, RUN_STEPS.carriedAndEach],
    ] as const)
      await refutes(world(), "two", 300, { item, step, element: 7 }, own);
  });

  itAtLength("inARunOf1000Items_isRefuted", async () => {
    const own = runOf(runProgram("two"), 1_000);
    for (const item of [0, 512, 999]) {
      const lie = { item, step: RUN_STEPS.carriedAndEach, element: 0 };
      const { moves } = await refutes(world(), "two", 1_000, lie, own);
      expect(moves[0]!.state.depth).to.equal(depthOf(1_000) - 4);
    }
  });

  itInTime("inWhatReadsTheIndex_isRefuted_whateverTheProofShowsOfIt", async () => {
    const program = runProgram();
    const lie = { item: 3, step: RUN_STEPS.index, element: 7 };
    const claimed = await claimedRun(world(), await runOf(program, 5, lie));
    const game = new RunGame(world(), claimed, await runOf(program, 5));
    const proof = await game.proof();
    const inputs = proof.inputs.map((input, k) => (k === 1 ? { ...input, root: ROOT, siblings: [ROOT, ROOT] } : input));
    await game.prove({ ...proof, inputs });
    expect(await game.status()).to.equal(ClaimStatus.refuted);
  });

  for (const firstItem of [1, 255, 65_536, 2 ** 32 - 1]) {
    itInTime(`inWhatReadsTheIndex_ofARunThatBeginsAt${firstItem}_isRefuted`, async () => {
      const program = runProgram();
      const lie = { item: 4, step: RUN_STEPS.index, element: 7 };
      const claimed = await claimedRun(world(), await runOf(program, 5, lie, firstItem));
      expect(claimed.claim.job.firstItem).to.equal(firstItem);
      const game = new RunGame(world(), claimed, await runOf(program, 5, undefined, firstItem));
      await game.prove(await game.proof());
      expect(await game.status()).to.equal(ClaimStatus.refuted);
    });

    itInTime(`aChallengerThatBeginsElsewhere_losesAgainstAnHonestRunFrom${firstItem}`, async () => {
      const program = runProgram();
      const honest = await claimedRun(world(), await runOf(program, 5, undefined, firstItem));
      const game = new RunGame(world(), honest, await runOf(program, 5, undefined, firstItem - 1));
      expect(await refusalOf(game.prove(await game.proof()))).to.match(/WrongRoot/);
    });
  }
});

for (const arityBits of everyFourth([1, 4, 6], 1)) {
  describe(`DisputeGame: a lie in a run, with arity 2^${arityBits}`, () => {
    const world = useWorld(() => createWorld({ arityBits, bondGas: 5_000_000 }));

    for (const ranges of ["two", "one", "step"] as const) {
      it(`inAProgramWithRangesOf_${ranges}_isRefuted`, async () => {
        for (const [items, item] of [
          [2, 1],
          [17, 11],
          [100, 98],
        ] as const)
          await refutes(world(), ranges, items, { item, step: LAST[ranges], element: 130 });
      });
    }
  });
}

describe("DisputeGame: opened at every node of a run's list", () => {
  const world = useWorld();

  /** The pick of a node of the run, `levels` below its root. */
  const pickOf = ({ worker: { run } }: ClaimedRun, levels: number, index: number): Pick => {
    const depth = run.list.depth - levels;
    const landing = { depth, index, node: run.list.node(depth, index), siblings: run.list.path(index, depth) };
    return pickBelow(run.program, { level: Level.run, first: 0 } as GameState, landing);
  };

  for (const ranges of ["two", "one", "step"] as const) {
    for (const items of everyFourth([2, 5, 8], 1)) {
      it(`of${items}Items_withRangesOf_${ranges}_leadsWhereItShould_underAnIdOfItsOwn`, async () => {
        const program = runProgram(ranges);
        const lie = { item: items - 1, step: LAST[ranges], element: 3 };
        const claimed = await claimedRun(world(), await runOf(program, items, lie));
        const own = await runOf(program, items);
        await executeItems(own.run, [items - 1], own.execute);
        const ids = new Set<Hex>();
        const games: RunGame[] = [];
        const places: { index: number; depth: number }[] = [];
        const depth = depthOf(items);
        for (let levels = 0; levels <= depth; levels++) {
          for (let index = 0; index < Math.ceil(items / 2 ** (depth - levels)); index++) {
            const game = await new RunGame(world(), claimed, own).open(pickOf(claimed, levels, index));
            ids.add(game.gameId);
            games.push(game);
            places.push({ index, depth: depth - levels });
            const { state } = game;
            expect(state).to.include({
              number: numberOf(levels, index),
              turn: 0,
              checkpoints: program.model.program.checkpoints.length,
            });
            if (levels < depth)
              expect(state).to.include({ level: Level.run, depth: depth - levels, index, width: items });
            else {
              expect(state).to.include({ item: index, traceRoot: claimed.worker.run.list.node(0, index), index: 0 });
              const entered = { two: [Level.trace, 1], one: [Level.trace, 0], step: [Level.tensor, 2] } as const;
              expect([state.level, state.depth]).to.deep.equal(entered[ranges]);
            }
            expect(await refusalOf(new RunGame(world(), claimed, own).open(pickOf(claimed, levels, index)))).to.match(
              /GameExists/,
            );
          }
        }
        expect(ids.size).to.equal(games.length);
        // Past the width there is nothing to open.
        if (items === 5) {
          const past = new RunGame(world(), claimed, own);
          expect(await refusalOf(past.open({ ...pickOf(claimed, 3, 4), index: 5n }))).to.match(/PickPastWidth/);
        }
        // Each of those above the lie refutes it; one does.
        const above = games.filter((_, k) => places[k]!.index === Math.floor((items - 1) / 2 ** places[k]!.depth));
        expect(above.length).to.equal(depth + 1);
        for (const game of above.slice(0, -1)) await game.proof();
        const last = above.at(-1)!;
        await last.prove(await last.proof());
        expect(await last.status()).to.equal(ClaimStatus.refuted);
      });
    }
  }
});
