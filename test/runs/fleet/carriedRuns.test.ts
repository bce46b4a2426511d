import { expect } from "chai";
import { pino } from "pino";
import { FleetExecutions, type FleetOptions } from "../../../src/runs/fleet/fleetExecutions.ts";
import { taskOf } from "../../../src/runs/fleet/task.ts";
import { TaskHandler } from "../../../src/runs/fleet/taskHandler.ts";
import { TaskFailedError } from "../../../src/runs/fleet/errors.ts";
import { tensorRoot } from "../../../src/program/merkle/tensor.ts";
import { Executions } from "../../../src/runs/executions.ts";
import { NO_METER, type FleetOutcome } from "../../../src/runs/figures.ts";
import { Health } from "../../../src/base/health.ts";
import { ProgramLibrary } from "../../../src/runs/programLibrary.ts";
import { stretchEnd } from "../../../src/runs/stretches.ts";
import { RunInputs } from "../../../src/program/trace/runInputs.ts";
import { MemoryStore } from "../../../testkit/fleet/memoryStore.ts";
import { MemoryTasks } from "../../../testkit/fleet/memoryTasks.ts";
import { publishedRun } from "../../../testkit/programs/publishedRun.ts";
import { runInputBytes, runProgram } from "../../../testkit/programs/runProgram.ts";
import { executionOf, runOf, type RunLie } from "../../../testkit/programs/runsOf.ts";
import { chainProgram } from "../../../testkit/protocol/chainProgram.ts";
import { rejection } from "../../../testkit/rejection.ts";
import type { Execute } from "../../../src/runs/execute.ts";

/** Two stretches, of 256 and 43 items, and the last item: states are kept at every second one. */
const ITEMS = 300;
const TASKS = 3;
const program = runProgram();
const length = { items: ITEMS, firstItem: 0 };
const job = publishedRun(program, new RunInputs(program.model.program.inputs, length, runInputBytes(ITEMS)));
const log = pino({ level: "silent" });

/** Executes items, and counts them. */
function counting(lie?: RunLie): { execute: Execute; count: () => number } {
  let count = 0;
  const execute = executionOf(lie);
  return { execute: (...args) => (count++, execute(...args)), count: () => count };
}

type Machine = ReturnType<typeof counting>;

/** A role whose runs such executors execute. */
function roleOf(executors: readonly Machine[], store = new MemoryStore(), options: Partial<FleetOptions> = {}) {
  const programs = ProgramLibrary.of([program]);
  const handlers = executors.map(
    ({ execute }, k) => new TaskHandler({ name: `e${k}`, programs, store, execute }).handle,
  );
  const tasks = new MemoryTasks(handlers);
  const outcomes: FleetOutcome[] = [];
  const health = new Health(log);
  const meter = { ...NO_METER, fleet: (outcome: FleetOutcome) => void outcomes.push(outcome) };
  const here = counting();
  const given = { tasks, store, here: here.execute, againShare: 0, health, meter, log, ...options };
  const executions = new Executions(programs, new FleetExecutions(given).execute);
  return { executions, tasks, handlers, outcomes, here, health, store };
}

describe("runs that carry state, executed by a fleet", () => {
  let right: Awaited<ReturnType<typeof runOf>>["run"];
  before(async () => void (right = (await runOf(program, ITEMS)).run));

  it("goToExecutorsByTheStretch_andGiveTheSameClaim", async () => {
    const [one, two] = [counting(), counting()];
    const { executions, tasks, here, outcomes } = roleOf([one, two]);
    const reported: number[] = [];
    executions.onItem = (_job, item, { program: of, tensor }) => {
      for (const output of of.outputs) tensor(of.checkpoints[output]!.step);
      reported.push(item);
    };
    const run = (await executions.of(job))!;
    expect([run.runRoot, run.answer.root]).to.deep.equal([right.runRoot, right.answer.root]);
    expect(tasks.tasks.map(({ run }) => run)).to.deep.equal([
      { items: 256, firstItem: 0 },
      { items: 43, firstItem: 256 },
      undefined,
    ]);
    expect([one.count() + two.count(), here.count(), outcomes]).to.deep.equal([ITEMS, 0, ["done", "done", "done"]]);
    expect(reported).to.deep.equal([255, 298, 299]);
    // What a dispute needs of an item: it, the one before, and what leads there from the nearest state.
    const root = await executions.use(job, (own) => own.item(290).trace.root);
    expect(root).to.equal(right.list.node(0, 290));
    expect(one.count() + two.count() - ITEMS).to.be.within(2, 2 + 290 - 256);
    expect(here.count()).to.equal(0);
  });

  it("whatWasDone_isNotExecutedAgain_byAnotherRole", async () => {
    const store = new MemoryStore();
    const first = counting();
    await roleOf([first], store).executions.of(job);
    const second = counting();
    const other = roleOf([second], store);
    expect((await other.executions.of(job))!.root).to.equal(right.root);
    expect([first.count(), second.count(), other.here.count()]).to.deep.equal([ITEMS, 0, 0]);
  });

  it("anExecutorThatEndsInTheMiddle_costsOneStretch", async () => {
    const dying = counting();
    const dies: Execute = (...args) =>
      dying.count() < 270 ? dying.execute(...args) : Promise.reject(new TaskFailedError("killed"));
    const sound = counting();
    const { executions, tasks, handlers, here } = roleOf([{ execute: dies, count: dying.count }, sound]);
    // A queue gives what was begun to another executor.
    const [doomed, next] = handlers;
    tasks.submit = async (task) => {
      tasks.tasks.push(task);
      return doomed!(task).catch(() => next!(task));
    };
    expect((await executions.of(job))!.root).to.equal(right.root);
    expect([dying.count(), sound.count(), here.count(), tasks.tasks.length]).to.deep.equal([270, 44, 0, TASKS]);
  });

  it("aWrongStretch_isFound_andTheRoleGoesOnWithTheRightOne", async () => {
    const lie = { item: 100, step: 2, element: 7 };
    const { executions, outcomes, health, here } = roleOf([counting(lie), counting()], undefined, { againShare: 1 });
    expect((await executions.of(job))!.root).to.equal(right.root);
    expect(outcomes).to.include("differs");
    expect(health.problem("fleet")).to.have.property("code", "EXECUTOR_WRONG");
    expect(here.count()).to.be.at.least(256);
  });

  it("stretches_endWhereStatesAreKept_andAreNoLongerThanTheirWorkAllows", () => {
    const ends = (from: number, to: number, length: number, interval: number): number[] => {
      const all: number[] = [];
      for (let at = from; at < to; all.push(at)) at = stretchEnd(at, to, length, interval);
      return all;
    };
    expect(ends(0, 10, 256, 1)).to.deep.equal([10]);
    expect(ends(0, 10, 4, 1)).to.deep.equal([4, 8, 10]);
    expect(ends(0, 11, 5, 2)).to.deep.equal([4, 8, 11]);
    // From a state within a stretch on, the others are those of before.
    expect(ends(6, 20, 5, 2)).to.deep.equal([8, 12, 16, 20]);
    expect(ends(0, 20, 3, 8)).to.deep.equal([3, 6, 8, 11, 14, 16, 19, 20]);
    expect(ends(7, 9, 1, 1)).to.deep.equal([8, 9]);
  });

  it("withoutAStore_theRoleExecutes", async () => {
    const store = new MemoryStore();
    store.isFull = true;
    const one = counting();
    const { executions, here } = roleOf([one], store);
    expect((await executions.of(job))!.root).to.equal(right.root);
    expect([one.count(), here.count()]).to.deep.equal([0, ITEMS]);
  });

  it("stretchesThatAreNoneOfTheirProgram_areRefused", async () => {
    const { handlers } = roleOf([counting()]);
    const { programRoot } = program.model;
    const inputs = runInputBytes(2)
      .filter(({ length }) => length > 0)
      .map((bytes) => ({ root: tensorRoot(bytes), bytes: bytes.length }));
    const run = { items: 2, firstItem: 0 };
    const task = taskOf({ programRoot, inputs, steps: [3], run }, 5, []);
    const [handle] = handlers;
    for (const wrong of [
      { ...task, run: { items: 3, firstItem: 0 } },
      taskOf({ programRoot, inputs, steps: [3], run: { items: 3, firstItem: 0 } }, 5, []),
      taskOf({ programRoot, inputs, steps: [3], run: { items: 2 ** 40, firstItem: 0 } }, 5, []),
      taskOf({ programRoot, inputs, steps: [9], run }, 5, []),
      taskOf({ programRoot, inputs, steps: [0], run }, 5, []),
      taskOf({ programRoot, inputs, steps: [3], run: { items: 2, firstItem: -1 } }, 5, []),
      taskOf({ programRoot, inputs, steps: [3], run: { items: 2, firstItem: 2 ** 53 - 1 } }, 5, []),
    ])
      expect(await rejection(handle!(wrong))).to.be.instanceOf(TaskFailedError);
    const plain = chainProgram(300, [3, 6]);
    const programs = ProgramLibrary.of([plain]);
    const { execute } = counting();
    const other = new TaskHandler({ name: "e", programs, store: new MemoryStore(), execute });
    const refs = [{ root: tensorRoot(plain.input), bytes: plain.input.length }];
    const stateless = taskOf({ programRoot: plain.model.programRoot, inputs: refs, steps: [8], run }, 5, []);
    expect(await rejection(other.handle(stateless))).to.be.instanceOf(TaskFailedError);
  });
});
