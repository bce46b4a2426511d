/**
 * Runs with many items: items independent from each other, executed in order and in parallel; then a run that carries
 * state, a dispute about one item, and a hundred games about a hundred items.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { createExecutor } from "../../../src/executor/createExecutor.ts";
import type { Execute } from "../../../src/runs/execute.ts";
import { executeRun } from "../../../src/runs/executeRun.ts";
import { Executions } from "../../../src/runs/executions.ts";
import { FastExecutors } from "../../../src/runs/fastExecutors.ts";
import { ProgramLibrary } from "../../../src/runs/programLibrary.ts";
import { snapshotInterval } from "../../../src/dispute/run/storedRun.ts";
import { storedBytesOf, StoredRuns } from "../../../src/runs/storedRuns.ts";
import { RunInputs } from "../../../src/program/trace/runInputs.ts";
import { countedExecute, playRunGame, ShamRunGames } from "../../../testkit/game/runGames.ts";
import { publishedRun } from "../../../testkit/programs/publishedRun.ts";
import { RUN_STEPS, runInputBytes, runProgram } from "../../../testkit/programs/runProgram.ts";
import { readOptions, whole } from "../../options.ts";
import { pictureProgram, picturesOf } from "./pictures.ts";

const { pictures, items } = readOptions({
  pictures: whole("items that take nothing from each other", 1_000),
  items: whole("items that carry a state", 10_000),
});
const GAMES = 100;

/** Runs an action, and returns the result with the seconds taken. */
async function timed<T>(action: () => Promise<T>): Promise<[T, string]> {
  const start = performance.now();
  const result = await action();
  return [result, `${((performance.now() - start) / 1_000).toFixed(2)} s`];
}

async function apart(): Promise<void> {
  console.log(`${pictures} pictures on ppocr2_cls, on ${availableParallelism()} processors`);
  const program = pictureProgram();
  const length = { items: pictures, firstItem: 0 };
  const inputs = new RunInputs(program.model.program.inputs, length, [Buffer.concat(picturesOf(pictures))]);
  const executors = new FastExecutors();
  const inOrder: Execute = (model, inputs, keep, trees) => executors.execute(model, inputs, keep, trees);
  for (const [name, execute] of [
    ["in order, steps shared", inOrder],
    ["beside each other", executors.execute],
  ] as const) {
    // The first time code is compiled, and threads are started.
    await executeRun(program, inputs, execute);
    const before = process.cpuUsage();
    const [run, time] = await timed(() => executeRun(program, inputs, execute));
    const { user, system } = process.cpuUsage(before);
    const cpu = ((user + system) / 1_000 / pictures).toFixed(2);
    console.log(`  ${name}: ${time}, ${cpu} ms of processors a picture, root ${run.root.slice(0, 10)}`);
  }
  await executors.close();
}

async function carried(): Promise<void> {
  const program = runProgram();
  console.log(`A run of ${items} items that carries a state of 1,200 bytes`);
  const length = { items, firstItem: 0 };
  const job = publishedRun(program, new RunInputs(program.model.program.inputs, length, runInputBytes(items)));
  const executor = await createExecutor(program.model, { threads: 1 });
  const folder = mkdtempSync(join(tmpdir(), "refute-runs-"));
  const player = (
    name: string,
    ...lie: Parameters<typeof countedExecute> extends [unknown, ...infer L] ? L : never
  ) => {
    const counted = countedExecute(executor, ...lie);
    const stored = new StoredRuns({ folder: join(folder, name) });
    return { executions: new Executions(ProgramLibrary.of([program]), counted.execute, undefined, stored), ...counted };
  };
  const interval = snapshotInterval(items);
  const item = Math.floor((items - 1) / interval) * interval - 1;
  const worker = player("worker", { item, step: RUN_STEPS.carriedAndEach, element: 200 });
  const watcher = player("watcher");
  const honest = player("honest");
  const [, time] = await timed(() => worker.executions.of(job));
  console.log(`  executed in ${time}; a state every ${interval} items, ${storedBytesOf(job)} bytes on disk`);
  await watcher.executions.of(job);
  worker.items.length = watcher.items.length = 0;
  const [, disputed] = await timed(() => playRunGame(job, worker.executions, watcher.executions));
  const again = [worker, watcher].map((each) => each.items.length).join(" and ");
  console.log(`  dispute about item ${item}, the farthest from a state: ${again} items executed again, ${disputed}`);
  const games = new ShamRunGames(honest.executions, watcher.executions, job);
  await games.open(
    Array.from({ length: GAMES }, (_, k) => {
      return { item: Math.floor(((k + 0.9) * items) / GAMES), step: RUN_STEPS.last, element: k };
    }),
  );
  honest.items.length = 0;
  const [, played] = await timed(async () => {
    while (await games.playRound());
  });
  console.log(`  ${GAMES} games at ${GAMES} items, ${games.moves} moves: ${honest.items.length} executions, ${played}`);
  rmSync(folder, { recursive: true });
  await executor.close();
}

await apart();
await carried();
