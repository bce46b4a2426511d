import { expect } from "chai";
import { createExecutor, type ExecutorOptions } from "../../../src/executor/createExecutor.ts";
import { AT_LENGTH } from "../../../testkit/atLength.ts";
import { compareBlocks, oneByOne, RIGHT, wrongAt } from "../../../testkit/programs/compareBlocks.ts";
import { randomRun } from "../../../testkit/programs/randomRun.ts";
import { Prng } from "../../../testkit/random/prng.ts";

const VARIANTS: Record<string, ExecutorOptions> = {
  oneThread: { threads: 1 },
  allThroughTheEngine: { threads: 1, minEngineWork: 0, chunkElements: 40 },
  twoThreads: { threads: 2, minSplit: 0, evenly: true },
};

const LENGTHS = AT_LENGTH ? [7, 64] : [1, 2, 3, 7];
const ITEMS = LENGTHS.at(-1)!;
const RUNS = AT_LENGTH ? 2 : 3;

describe("items of a run in blocks", function () {
  this.timeout(300_000);

  for (const [name, options] of Object.entries(VARIANTS))
    it(`${name}_randomRuns_haveTheRootsOfItemsOneByOne`, async () => {
      const prng = new Prng(41);
      const counts = { blocks: 0, wrong: 0 };
      for (let n = 0; n < RUNS; n++) {
        const run = randomRun(prng, 8, ITEMS);
        const { inputs, checkpoints } = run.model.program;
        const isCarried = (c: number): boolean =>
          inputs.some(({ source }) => source?.kind === "carried" && source.checkpoint === c);
        const guessed = [...checkpoints.keys()].filter((c) => isCarried(c) && prng.below(2) === 0);
        const executor = await createExecutor(run.model, { ...options, blocks: { lengths: LENGTHS, guessed } });
        const right = await oneByOne(run, executor);
        const compare = async (length: number, guess: typeof RIGHT, isUnsure = false): Promise<void> => {
          const found = await compareBlocks(run, executor, right, { length, guessed, guess, isUnsure });
          counts.blocks += found.blocks;
          counts.wrong += found.wrong;
        };
        for (const length of [...LENGTHS, 5]) {
          await compare(length, RIGHT);
          await compare(
            length,
            wrongAt((item) => item % 4 === 3),
          );
        }
        await compare(3, RIGHT, true);
        for (let place = 1; place < ITEMS; place += AT_LENGTH ? 9 : 4)
          await compare(
            ITEMS,
            wrongAt((item) => item === place),
            true,
          );
        await compare(
          ITEMS,
          wrongAt(() => true),
        );
        await executor.close();
      }
      expect(Math.min(counts.blocks, counts.wrong)).to.be.greaterThan(0);
    });
});
