import { expect } from "chai";
import { blockOrder } from "../../../src/executor/blocks/inPlace.ts";
import { createExecutor, type ExecutorOptions } from "../../../src/executor/createExecutor.ts";
import { AT_LENGTH } from "../../../testkit/atLength.ts";
import { compareBlocks, oneByOne, RIGHT, wrongAt } from "../../../testkit/programs/compareBlocks.ts";
import { randomCaches } from "../../../testkit/programs/randomCaches.ts";
import { Prng } from "../../../testkit/random/prng.ts";

const VARIANTS: Record<string, ExecutorOptions> = {
  oneThread: { threads: 1 },
  allThroughTheEngine: { threads: 1, minEngineWork: 0, chunkElements: 40 },
  twoThreads: { threads: 2, minSplit: 0, evenly: true },
};
const ITEMS = 12;
const LENGTHS = [1, 2, 3, 7];
const RUNS = AT_LENGTH ? 60 : 8;

describe("caches in blocks", function () {
  this.timeout(300_000);

  for (const [name, options] of Object.entries(VARIANTS))
    it(`${name}_randomCaches_haveTheRootsOfItemsOneByOne`, async () => {
      const prng = new Prng(77);
      const found = { inPlace: 0, followed: 0, neither: 0, wrong: 0 };
      for (let n = 0; n < RUNS; n++) {
        const run = randomCaches(prng, ITEMS);
        const { guessed } = run;
        const [cache] = blockOrder(run.model.program, new Set(guessed)).inPlace.values();
        if (cache === undefined) found.neither++;
        else if (cache.followers.size > 0) found.followed++;
        else found.inPlace++;
        const executor = await createExecutor(run.model, { ...options, blocks: { lengths: LENGTHS, guessed } });
        const right = await oneByOne(run, executor);
        for (const length of [...LENGTHS, 5]) {
          await compareBlocks(run, executor, right, { length, guessed, guess: RIGHT });
          for (const isUnsure of [false, true]) {
            const guess = wrongAt((item) => item % 4 === 3);
            found.wrong += (await compareBlocks(run, executor, right, { length, guessed, guess, isUnsure })).wrong;
          }
        }
        await executor.close();
      }
      expect(Math.min(...Object.values(found)), JSON.stringify(found)).to.be.greaterThan(0);
    });
});
