import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { pino } from "pino";
import { Health } from "../../src/base/health.ts";
import { statesFrom, type Said, type Snapshots, type States } from "../../src/runs/ahead.ts";
import { executeRun } from "../../src/runs/executeRun.ts";
import type { AskOutput } from "../../src/runs/execute.ts";
import { NO_METER } from "../../src/runs/figures.ts";
import { FleetExecutions } from "../../src/runs/fleet/fleetExecutions.ts";
import { FolderStore } from "../../src/runs/fleet/folderStore.ts";
import type { Task, TaskOutcome } from "../../src/runs/fleet/task.ts";
import { TaskHandler } from "../../src/runs/fleet/taskHandler.ts";
import type { HandleTask } from "../../src/runs/fleet/taskQueue.ts";
import { ProgramLibrary } from "../../src/runs/programLibrary.ts";
import { RunInputs } from "../../src/program/trace/runInputs.ts";
import { programWork, WORK_PER_SECOND } from "../../src/program/work.ts";
import { FastExecutors } from "../../src/runs/fastExecutors.ts";
import { AT_LENGTH } from "../../testkit/atLength.ts";
import { ExecutorProcesses } from "../../testkit/fleet/executorProcesses.ts";
import { MemoryStore } from "../../testkit/fleet/memoryStore.ts";
import { MemoryTasks } from "../../testkit/fleet/memoryTasks.ts";
import { runInputBytes, runProgram, RUN_STEPS } from "../../testkit/programs/runProgram.ts";

/** Eight stretches of at most 256 items; the last item is executed by itself. */
const STRETCHES = 8;
const LONGEST = 256;
const ITEMS = STRETCHES * LONGEST;
const program = runProgram();
const inputs = new RunInputs(program.model.program.inputs, { items: ITEMS, firstItem: 0 }, runInputBytes(ITEMS));
const log = pino({ level: "silent" });
/** The output that an item takes from the item before. */
const STATE = 0;
const PROCESSES = 4;
const FOREVER = (): number => Infinity;

describe("stretches of a serial run, side by side", function () {
  this.timeout(120_000);

  const executors = new FastExecutors({ threads: 1 });
  const folder = mkdtempSync(join(tmpdir(), "refute-ahead-"));
  let processes: ExecutorProcesses;
  let right: Awaited<ReturnType<typeof executeRun>>;
  const states: Uint8Array[] = [];

  before(async () => {
    processes = new ExecutorProcesses(PROCESSES, folder);
    right = await executeRun(program, inputs, executors.execute, {}, (item, { tensor }) => {
      states[item] = Uint8Array.from(tensor(RUN_STEPS.last));
    });
  });

  after(async () => {
    await Promise.all([executors.close(), processes.close()]);
    rmSync(folder, { recursive: true });
  });

  type Way = { whole?: number; inProcesses?: boolean };

  /**
   * A fleet of four executors.
   * @param way If `whole` is given, no stretch's result is there before so many stretches have begun.
   */
  function fleetOf({ whole = 1, inProcesses = false }: Way = {}) {
    const programs = ProgramLibrary.of([program]);
    const store = inProcesses ? new FolderStore(folder) : new MemoryStore();
    const seen = { begun: 0, most: 0, running: 0, executors: new Set<string>() };
    let open: () => void = () => undefined;
    const isOpen = new Promise<void>((resolve) => (open = resolve));
    const handles: readonly HandleTask[] = inProcesses
      ? processes.handlers
      : Array.from({ length: PROCESSES }, (_, k) => {
          const { handle } = new TaskHandler({ name: `e${k}`, programs, store, execute: executors.execute });
          return handle;
        });
    const handlers = handles.map((handle) => async (task: Task): Promise<TaskOutcome> => {
      if (task.run === undefined) return handle(task);
      seen.most = Math.max(seen.most, ++seen.running);
      const outcome = handle(task);
      if (++seen.begun >= whole) open();
      await isOpen;
      const done = await outcome.finally(() => seen.running--);
      seen.executors.add(done.executor);
      return done;
    });
    const tasks = new MemoryTasks(handlers);
    const options = {
      tasks,
      store,
      here: executors.execute,
      againShare: 0,
      health: new Health(log),
      meter: NO_METER,
      log,
    };
    return { execute: new FleetExecutions(options).execute, seen };
  }

  const told: AskOutput = (item, output) => Promise.resolve(output === STATE ? states[item] : undefined);

  async function runFrom(states: States | undefined, way?: Way) {
    const { execute, seen } = fleetOf(way);
    const run = await executeRun(program, inputs, execute, { states });
    expect(run.runRoot).to.equal(right.runRoot);
    expect(run.answer.root).to.equal(right.answer.root);
    return seen;
  }

  const runWith = (output: AskOutput, whole?: number) =>
    runFrom(statesFrom(program.model.program, "trace", { output }, FOREVER), { ...(whole && { whole }) });

  /** Snapshots of a claim that holds no states of items before the last. */
  function snapshotsOf(change: (item: number, state: Uint8Array) => Uint8Array | undefined = (_, state) => state) {
    const found = { asked: 0, wrong: 0 };
    const snapshots: Snapshots = {
      ask: (item, bytes) => {
        found.asked++;
        expect(bytes).to.equal(states[item - 1]!.length);
        return Promise.resolve(change(item, states[item - 1]!));
      },
      onWrong: () => found.wrong++,
    };
    const said: Said = { output: () => Promise.reject(new Error("no output is asked for")), snapshots };
    return { said, found };
  }
  const runAfter = (said: Said, secondsLeft: () => number, way?: Way) =>
    runFrom(statesFrom(program.model.program, "answer", said, secondsLeft), way);

  it("fromRightStates_allRunAtOnce", async () => {
    expect(await runWith(told, STRETCHES)).to.deep.include({ begun: STRETCHES, most: STRETCHES });
  });

  it("fromWrongStates_giveTheSameRoots_andAreNotBelievedAgain", async () => {
    for (let place = 1; place < STRETCHES; place += AT_LENGTH ? 1 : 5) {
      const ask: AskOutput = async (item, output) => {
        const bytes = Uint8Array.from((await told(item, output))!);
        if (item === place * LONGEST - 1) bytes[place]! ^= 1;
        return bytes;
      };
      const { begun } = await runWith(ask, STRETCHES);
      // The stretch with the wrong beginning, and those behind it, are executed once more.
      expect(begun).to.equal(STRETCHES + STRETCHES - place);
    }
  });

  it("fromShortMissingAndFailingStates_giveTheSameRoots", async () => {
    const asks: readonly AskOutput[] = [
      () => Promise.resolve(undefined),
      () => Promise.resolve(new Uint8Array()),
      (item) => Promise.resolve(item < 600 ? states[item] : states[item]!.subarray(1)),
      (item) => (item < 600 ? Promise.resolve(states[item]) : Promise.reject(new Error("gone"))),
      // The answer never comes.
      () => new Promise(() => undefined),
    ];
    for (const ask of asks) expect((await runWith(ask)).begun).to.equal(STRETCHES);
  });

  it("ofTensorsThatTheClaimHoldsNot_andWithoutSnapshots_nobodyIsAsked", () => {
    const { program: own } = program.model;
    expect(statesFrom({ ...own, outputs: [0] }, "trace", { output: told }, FOREVER)).to.equal(undefined);
    expect(statesFrom(own, "answer", { output: told }, FOREVER)).to.equal(undefined);
  });

  it("eightStretches_onFourProcesses_fromSnapshotsThatNoRootBinds", async () => {
    const { said, found } = snapshotsOf();
    const seen = await runAfter(said, FOREVER, { whole: STRETCHES, inProcesses: true });
    expect(seen).to.deep.include({ begun: STRETCHES, most: STRETCHES });
    expect(seen.executors.size).to.equal(PROCESSES);
    // The first stretch needs none.
    expect(found).to.deep.equal({ asked: STRETCHES - 1, wrong: 0 });
  });

  it("fromAWrongSnapshot_giveTheSameRoots_andNoOtherIsBelieved", async () => {
    for (let place = 1; place < STRETCHES; place += AT_LENGTH ? 1 : 3) {
      const { said, found } = snapshotsOf((item, state) =>
        item === place * LONGEST ? state.map((byte, k) => (k === place ? byte ^ 1 : byte)) : state,
      );
      const { begun } = await runAfter(said, FOREVER, { whole: STRETCHES });
      expect(begun).to.equal(STRETCHES + STRETCHES - place);
      expect(found.wrong).to.equal(1);
    }
  });

  it("fromShortLongMissingAndFailingSnapshots_giveTheSameRoots", async () => {
    const changes: readonly Parameters<typeof snapshotsOf>[0][] = [
      () => undefined,
      () => new Uint8Array(),
      (_, state) => state.subarray(1),
      (_, state) => Uint8Array.of(...state, 0),
      (item, state) => (item < 600 ? state : undefined),
      () => {
        throw new Error("gone");
      },
    ];
    for (const change of changes) {
      const { said, found } = snapshotsOf(change);
      expect((await runAfter(said, FOREVER)).begun).to.equal(STRETCHES);
      expect(found.wrong).to.equal(0);
    }
  });

  it("snapshots_getAnEighthOfTheTimeThatIsLeft", async () => {
    const stretchSeconds = (LONGEST * Number(programWork(program.model.program))) / WORK_PER_SECOND;
    for (const [left, most] of [
      [0, 0],
      [7.9, 0],
      [8.1, 1],
      [16.1, 2],
      [64.1, 8],
    ] as const) {
      const { said } = snapshotsOf();
      const seen = await runAfter(said, () => left * stretchSeconds);
      expect(seen.begun).to.equal(STRETCHES);
      // The stretch that is due is no guess.
      expect(seen.most, `${left} stretches' time is left`).to.be.at.most(most + 1);
    }
  });
});
