import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { createExecutor, type Executor } from "../../src/executor/createExecutor.ts";
import type { JobRecord } from "../../src/chain/market/history.ts";
import { Executions } from "../../src/runs/executions.ts";
import { ProgramLibrary } from "../../src/runs/programLibrary.ts";
import { StoredRuns } from "../../src/runs/storedRuns.ts";
import { RunInputs } from "../../src/program/trace/runInputs.ts";
import { countedExecute, playRunGame, ShamRunGames, type RunElement } from "../../testkit/game/runGames.ts";
import { publishedRun } from "../../testkit/programs/publishedRun.ts";
import { RUN_STEPS, runInputBytes, runProgram } from "../../testkit/programs/runProgram.ts";
import { itAtLength, itInTime } from "../../testkit/atLength.ts";

const program = runProgram();

describe("games about items of a long run", function () {
  this.timeout(120_000);
  let executor: Executor;
  let folder: string;
  before(async () => {
    executor = await createExecutor(program.model, { threads: 1 });
  });
  after(() => executor.close());
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "refute-runs-"))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const jobOf = (items: number): JobRecord => {
    const length = { items, firstItem: 0 };
    return publishedRun(program, new RunInputs(program.model.program.inputs, length, runInputBytes(items)));
  };
  const player = (name: string, { lie, budget }: { lie?: RunElement; budget?: number } = {}) => {
    const { execute, items } = countedExecute(executor, lie);
    const stored = new StoredRuns({ folder: join(folder, name) });
    return { executions: new Executions(ProgramLibrary.of([program]), execute, budget, stored), items };
  };

  itAtLength("disputeAboutOneOfTenThousandItems_executesFewAgain", async () => {
    const ITEMS = 10_000;
    const job = jobOf(ITEMS);
    // Just after a state that is kept, just before one, at one, and the first item.
    for (const item of [0, 7_801, 7_839, 7_840]) {
      const lie = { item, step: RUN_STEPS.carriedAndEach, element: 200 };
      const [worker, watcher] = [player(`worker${item}`, { lie }), player(`watcher${item}`)];
      await worker.executions.of(job);
      await watcher.executions.of(job);
      expect([worker.items.length, watcher.items.length]).to.deep.equal([ITEMS, ITEMS]);
      worker.items.length = watcher.items.length = 0;
      const move = await playRunGame(job, worker.executions, watcher.executions);
      expect(move.kind).to.equal("prove");
      expect(move).to.have.nested.property("proof.element", 200n);
      for (const { items } of [worker, watcher]) {
        const distinct = new Set(items).size;
        expect(distinct, `executed ${items.join()}`).to.be.within(1, Math.ceil(ITEMS / 256) + 1);
        // The disputed item once more, for the tensors of its range.
        expect(items.length).to.be.at.most(distinct + 1);
      }
    }
  });

  const [GAMES, ITEMS] = [100, 1_000];
  const elements = Array.from({ length: GAMES }, (_, k) => {
    return { item: 10 * k + (k % 9), step: RUN_STEPS.last, element: k };
  });

  async function openGames(worker: ReturnType<typeof player>, job: JobRecord): Promise<ShamRunGames> {
    const games = new ShamRunGames(worker.executions, player("challengers").executions, job);
    await games.open(elements);
    worker.items.length = 0;
    return games;
  }

  itInTime("hundredGamesAtHundredItems_takeOneSweep_andOneExecutionEachForTheirRange", async () => {
    const worker = player("worker");
    const games = await openGames(worker, jobOf(ITEMS));
    while (await games.playRound());
    expect(games.moves).to.be.above(5 * GAMES);
    expect(new Set(worker.items).size, "of one sweep").to.be.within(2 * GAMES, ITEMS);
    expect(worker.items.length).to.be.at.most(new Set(worker.items).size + GAMES);
  });

  itInTime("hundredGamesAtHundredItems_withRoomForFew_areAllPlayed", async () => {
    const job = jobOf(ITEMS);
    const worker = player("worker", { budget: 0 });
    const games = await openGames(worker, job);
    const run = (await worker.executions.of(job))!;
    const [{ bytes }, item] = [run, run.item(ITEMS - 1).trace.bytes];
    let max = 0;
    const held = setInterval(() => (max = Math.max(max, run.bytes)), 0);
    while (await games.playRound());
    clearInterval(held);
    expect(games.moves).to.be.above(5 * GAMES);
    // Of what an item begins with is kept, and of the one before: two executions a move, and one for a range's tensors.
    expect(worker.items.length).to.be.within(2 * GAMES, 3 * games.moves + ITEMS);
    expect(max).to.be.within(1, bytes + 20 * item);
  });
});
