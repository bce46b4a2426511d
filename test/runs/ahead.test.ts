import { expect } from "chai";
import { pino } from "pino";
import { Health } from "../../src/base/health.ts";
import { stateFromOutputs } from "../../src/runs/ahead.ts";
import { executeRun } from "../../src/runs/executeRun.ts";
import type { AskOutput } from "../../src/runs/execute.ts";
import { NO_METER } from "../../src/runs/figures.ts";
import { FleetExecutions } from "../../src/runs/fleet/fleetExecutions.ts";
import type { Task, TaskOutcome } from "../../src/runs/fleet/task.ts";
import { TaskHandler } from "../../src/runs/fleet/taskHandler.ts";
import { ProgramLibrary } from "../../src/runs/programLibrary.ts";
import { RunInputs } from "../../src/program/trace/runInputs.ts";
import { FastExecutors } from "../../src/runs/fastExecutors.ts";
import { AT_LENGTH } from "../../testkit/atLength.ts";
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

describe("stretches of a serial run, side by side", function () {
  this.timeout(120_000);

  const executors = new FastExecutors({ threads: 1 });
  let right: Awaited<ReturnType<typeof executeRun>>;
  const states: Uint8Array[] = [];

  before(async () => {
    right = await executeRun(program, inputs, executors.execute, {}, (item, { tensor }) => {
      states[item] = Uint8Array.from(tensor(RUN_STEPS.last));
    });
  });

  after(() => executors.close());

  /** A fleet of four executors. @param whole If given, no stretch ends before so many have begun. */
  function fleetOf(whole = 1) {
    const programs = ProgramLibrary.of([program]);
    const store = new MemoryStore();
    const seen = { begun: 0, most: 0, running: 0 };
    let open: () => void = () => undefined;
    const isOpen = new Promise<void>((resolve) => (open = resolve));
    const handlers = Array.from({ length: 4 }, (_, k) => {
      const { handle } = new TaskHandler({ name: `e${k}`, programs, store, execute: executors.execute });
      return async (task: Task): Promise<TaskOutcome> => {
        if (task.run === undefined) return handle(task);
        seen.most = Math.max(seen.most, ++seen.running);
        if (++seen.begun >= whole) open();
        await isOpen;
        return handle(task).finally(() => seen.running--);
      };
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

  async function runWith(ask: AskOutput, whole?: number) {
    const { execute, seen } = fleetOf(whole);
    const stateOf = stateFromOutputs(program.model.program, ask);
    const run = await executeRun(program, inputs, execute, { stateOf });
    expect(run.runRoot).to.equal(right.runRoot);
    expect(run.answer.root).to.equal(right.answer.root);
    return seen;
  }

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

  it("ofTensorsThatAreNoOutputs_nobodyIsAsked", () => {
    const { program: own } = program.model;
    expect(stateFromOutputs({ ...own, outputs: [0] }, told)).to.equal(undefined);
  });
});
