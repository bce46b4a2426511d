import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { pino } from "pino";
import { numberToHex } from "viem";
import { Health } from "../../src/base/health.ts";
import type { ClaimRecord, JobRecord } from "../../src/chain/market/history.ts";
import { submissionOf } from "../../src/dispute/workerMove.ts";
import type { RunExecution } from "../../src/dispute/run/runExecution.ts";
import { TracePublisher } from "../../src/parties/worker/publisher.ts";
import { toHex } from "../../src/program/merkle/hash.ts";
import { httpOutputs, httpSnapshots, type SnapshotSource } from "../../src/program/trace/published.ts";
import { RunInputs } from "../../src/program/trace/runInputs.ts";
import { Executions, KEPT_BYTES } from "../../src/runs/executions.ts";
import { FastExecutors } from "../../src/runs/fastExecutors.ts";
import { NO_METER } from "../../src/runs/figures.ts";
import { FleetExecutions } from "../../src/runs/fleet/fleetExecutions.ts";
import type { Task } from "../../src/runs/fleet/task.ts";
import { TaskHandler } from "../../src/runs/fleet/taskHandler.ts";
import { ProgramLibrary } from "../../src/runs/programLibrary.ts";
import { StoredRuns } from "../../src/runs/storedRuns.ts";
import { MemoryStore } from "../../testkit/fleet/memoryStore.ts";
import { MemoryTasks } from "../../testkit/fleet/memoryTasks.ts";
import { runInputBytes, runProgram } from "../../testkit/programs/runProgram.ts";
import { Auditor } from "../../watcher/auditor.ts";

const ARITY_BITS = 4;
/** Four stretches, and the last item. */
const ITEMS = 1_024;
const STRETCHES = 4;
const program = runProgram();
const inputs = new RunInputs(program.model.program.inputs, { items: ITEMS, firstItem: 0 }, runInputBytes(ITEMS));
const log = pino({ level: "silent" });
const held = { of: () => inputs };
const worker = numberToHex(9, { size: 20 });

/** A job whose claims hold outputs alone: the state is an output of the last item, so that no root binds others. */
function jobOf(id: number): JobRecord {
  const { model, commitment } = program;
  const { outputs, checkpoints } = model.program;
  return {
    id: numberToHex(id, { size: 32 }),
    job: {
      ...{ programRoot: model.programRoot, inputsRoot: inputs.list.root, items: ITEMS, firstItem: 0 },
      ...{ answers: outputs.length, checkpoints: checkpoints.length },
    },
    program: { header: toHex(commitment.header) },
    inputRoots: inputs.roots,
    parts: new Map(),
    claims: [],
  } as unknown as JobRecord;
}

const claimOf = (job: JobRecord, run: RunExecution): ClaimRecord =>
  ({
    ...{ id: job.id, windowEnd: BigInt(2 ** 40), finalised: false, refuted: false, accepted: false, games: [] },
    ...{ claim: { root: run.root, worker }, nodes: submissionOf(run.claimed, ARITY_BITS) },
  }) as unknown as ClaimRecord;

describe("a watcher's check from published snapshots", function () {
  this.timeout(60_000);

  const executors = new FastExecutors({ threads: 1 });
  const folder = mkdtempSync(join(tmpdir(), "refute-snapshots-"));
  const publisher = new TracePublisher();
  const own = new Executions(
    ProgramLibrary.of([program]),
    executors.execute,
    KEPT_BYTES,
    new StoredRuns({ folder }),
    held,
  );
  const job = jobOf(1);
  let url: string;
  let run: RunExecution;

  before(async () => {
    run = (await own.of(job))!;
    publisher.publish(new Map([[job.id, { ...job, claims: [claimOf(job, run)] }]]), own);
    url = `http://127.0.0.1:${await publisher.listen(0)}`;
  });

  after(async () => {
    await Promise.all([publisher.close(), executors.close()]);
    rmSync(folder, { recursive: true });
  });

  /**
   * A watcher with a fleet of four.
   * @param whole No stretch is executed before so many have begun.
   */
  function watcher(whole: number, snapshots: SnapshotSource, isPlaying = (): boolean => false) {
    let begun = 0;
    let open: () => void = () => undefined;
    const isOpen = new Promise<void>((resolve) => (open = resolve));
    const store = new MemoryStore();
    const programs = ProgramLibrary.of([program]);
    const handlers = Array.from({ length: STRETCHES }, (_, k) => {
      const { handle } = new TaskHandler({ name: `e${k}`, programs, store, execute: executors.execute });
      return async (task: Task) => {
        if (++begun >= whole) open();
        await isOpen;
        return handle(task);
      };
    });
    const tasks = new MemoryTasks(handlers);
    const options = { tasks, store, here: executors.execute, againShare: 0, health: new Health(log), meter: NO_METER };
    const { execute } = new FleetExecutions({ ...options, log });
    const executions = new Executions(programs, execute, KEPT_BYTES, new StoredRuns(), held);
    const published = { outputs: httpOutputs(url), snapshots, isPlaying };
    return { auditor: new Auditor(executions, ARITY_BITS, undefined, published), tasks };
  }

  const stretchesOf = ({ tasks }: MemoryTasks): number => tasks.filter((task) => task.run !== undefined).length;

  /** Judges the claim. @returns the items whose snapshots were asked for */
  async function judge(
    { auditor, tasks }: ReturnType<typeof watcher>,
    asked: number[],
    number = 1,
  ): Promise<{ asked: number[]; stretches: number }> {
    const [before, earlier] = [stretchesOf(tasks), asked.length];
    const one = jobOf(number);
    const verdict = await auditor.judge(one, { ...claimOf(one, run), id: job.id }, 0);
    expect(verdict.kind).to.equal("agrees");
    return { asked: asked.slice(earlier), stretches: stretchesOf(tasks) - before };
  }

  const lengthOfStretch = ITEMS / STRETCHES;
  const begins = [1, 2, 3].map((k) => k * lengthOfStretch);

  it("aWorkersStates_areAskedFor_andTheClaimAgrees", async () => {
    const asked: number[] = [];
    const source = httpSnapshots(url);
    const found = await judge(
      watcher(STRETCHES, async (name, bytes) => {
        asked.push(name.item);
        const state = await source(name, bytes);
        expect(state).to.have.length(bytes);
        return state;
      }),
      asked,
    );
    expect(found).to.deep.equal({ asked: begins, stretches: STRETCHES });
  });

  it("aWorkerThatGaveAWrongState_isNotAskedAgain", async () => {
    const asked: number[] = [];
    const source = httpSnapshots(url);
    const one = watcher(2, async (name, bytes) => {
      asked.push(name.item);
      return (await source(name, bytes))?.map((byte, k) => (k === 3 ? byte ^ 1 : byte));
    });
    expect((await judge(one, asked)).asked).to.include(begins[0]);
    expect(await judge(one, asked, 2)).to.deep.equal({ asked: [], stretches: STRETCHES });
  });

  it("whileClocksOfGamesRun_noneIsAskedFor", async () => {
    const asked: number[] = [];
    let isPlaying = true;
    const one = watcher(
      1,
      ({ item }) => {
        asked.push(item);
        return Promise.resolve(undefined);
      },
      () => isPlaying,
    );
    expect(await judge(one, asked)).to.deep.equal({ asked: [], stretches: STRETCHES });
    isPlaying = false;
    expect((await judge(one, asked, 2)).asked).to.include(begins[0]);
  });

  it("aPublisherGivesKeptStatesOfItsClaimsAlone", async () => {
    const statusOf = async (path: string): Promise<number> => (await fetch(`${url}/${path}`)).status;
    expect(await statusOf(`${job.id}/${begins[0]}/state`)).to.equal(200);
    // States are kept of every fourth item.
    for (const path of [`${job.id}/0/state`, `${job.id}/3/state`, `${job.id}/${ITEMS}/state`, `${job.id}/4/states`])
      expect(await statusOf(path), path).to.equal(404);
    expect(await statusOf(`${numberToHex(5, { size: 32 })}/${begins[0]}/state`)).to.equal(404);
  });
});
