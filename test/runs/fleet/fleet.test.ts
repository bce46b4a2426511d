import { expect } from "chai";
import { pino } from "pino";
import { executeReference } from "../../../src/executor/reference.ts";
import { FleetExecutions, type FleetOptions } from "../../../src/runs/fleet/fleetExecutions.ts";
import { runExecutor } from "../../../src/runs/fleet/executor.ts";
import { priorityOf } from "../../../src/runs/fleet/bullTasks.ts";
import { taskOf } from "../../../src/runs/fleet/task.ts";
import { TaskHandler } from "../../../src/runs/fleet/taskHandler.ts";
import { Postponed, type HandleTask } from "../../../src/runs/fleet/taskQueue.ts";
import type { MerkleList } from "../../../src/program/merkle/list.ts";
import { tensorRoot } from "../../../src/program/merkle/tensor.ts";
import { EmbeddedQueue } from "../../../src/runs/executionQueue.ts";
import { NO_METER, type FleetOutcome } from "../../../src/runs/figures.ts";
import { Health } from "../../../src/base/health.ts";
import { ProgramLibrary } from "../../../src/runs/programLibrary.ts";
import { Trace } from "../../../src/program/trace/trace.ts";
import { QueueUnavailableError, TaskFailedError } from "../../../src/runs/fleet/errors.ts";
import { MemoryStore } from "../../../testkit/fleet/memoryStore.ts";
import { MemoryTasks } from "../../../testkit/fleet/memoryTasks.ts";
import { chainProgram } from "../../../testkit/protocol/chainProgram.ts";
import { rejection } from "../../../testkit/rejection.ts";
import type { Execute } from "../../../src/runs/execute.ts";

const subject = chainProgram(300, [3, 6]);
const { model, input } = subject;
const right = executeReference(model, [input]);
const checkpoints = new Set(model.program.checkpoints.map(({ step }) => step));
const keep = (step: number): boolean => checkpoints.has(step);
const log = pino({ level: "silent" });

/** Executes, and counts how often. */
function counting(spoil: (tensor: Uint8Array) => void = () => undefined): { execute: Execute; count: () => number } {
  let count = 0;
  const execute: Execute = (model, inputs, keep) => {
    count++;
    return Promise.resolve(
      executeReference(model, inputs).map((tensor, step) => {
        if (keep?.(step) !== false) spoil(tensor);
        return tensor;
      }),
    );
  };
  return { execute, count: () => count };
}

/** A fleet of executors with these ways to execute, and a role that asks it. */
function fleetOf(executors: readonly Execute[], options: Partial<FleetOptions> = {}) {
  const store = new MemoryStore();
  const programs = ProgramLibrary.of([subject]);
  const handlers = executors.map((execute, k) => new TaskHandler({ name: `e${k}`, programs, store, execute }).handle);
  const tasks = new MemoryTasks(handlers);
  const health = new Health(log);
  const outcomes: FleetOutcome[] = [];
  const meter = { ...NO_METER, fleet: (outcome: FleetOutcome) => void outcomes.push(outcome) };
  const here = counting();
  const fleet = new FleetExecutions({
    tasks,
    store,
    here: here.execute,
    againShare: 0,
    health,
    meter,
    log,
    ...options,
  });
  return { fleet, store, tasks, handlers, health, outcomes, here };
}

describe("a fleet", () => {
  it("execution_givesTheTensorsAndTreesOfItsOwn", async () => {
    const one = counting();
    const { fleet, tasks, here } = fleetOf([one.execute]);
    const trees = new Map<number, MerkleList>();
    const tensors = await fleet.execute(model, [input], keep, trees);
    expect(Object.keys(tensors).map(Number)).to.deep.equal([...checkpoints]);
    expect(new Trace(model.program, tensors, trees).root).to.equal(new Trace(model.program, right).root);
    expect([...trees.keys()]).to.have.members([...checkpoints]);
    expect([one.count(), here.count(), tasks.tasks.length]).to.deep.equal([1, 0, 1]);
  });

  it("sameExecutionAgain_isFoundInTheStore", async () => {
    const [one, two] = [counting(), counting()];
    const { fleet, handlers, tasks } = fleetOf([one.execute, two.execute]);
    await fleet.execute(model, [input], keep);
    await fleet.execute(model, [input], keep);
    // Delivered twice.
    const outcome = await handlers[1]!(tasks.tasks[0]!);
    expect(outcome.executor).to.equal("e0");
    expect([one.count(), two.count()]).to.deep.equal([1, 0]);
  });

  it("wrongInput_isRefusedBeforeAnybodyIsAsked", async () => {
    const { fleet, tasks } = fleetOf([counting().execute]);
    expect(await rejection(fleet.execute(model, [input.subarray(4)], keep))).to.have.property(
      "code",
      "EXECUTION_INPUT",
    );
    expect(tasks.tasks).to.deep.equal([]);
  });

  it("spoiledAndMissingTensors_areExecutedAgain", async () => {
    const one = counting();
    const { fleet, store, outcomes } = fleetOf([one.execute]);
    for (const spoil of ["other", "short", "gone"]) {
      await fleet.execute(model, [input], keep);
      for (const [name, bytes] of [...store.blobs])
        if (
          name.startsWith("tensors/") &&
          bytes.length === right[8]!.length &&
          !bytes.every((b, k) => b === input[k])
        ) {
          if (spoil === "other") bytes[5]! ^= 1;
          else if (spoil === "short") store.blobs.set(name, bytes.subarray(4));
          else store.blobs.delete(name);
        }
      const count = one.count();
      const again = await fleet.execute(model, [input], keep);
      expect(again[8]).to.deep.equal(right[8]);
      expect(one.count()).to.equal(count + 1);
    }
    expect(outcomes.filter((outcome) => outcome === "failed")).to.have.length(3);
  });

  it("storeThatSpoilsEverything_isReplacedByThisProcess", async () => {
    const { fleet, store, here } = fleetOf([counting().execute]);
    const get = store.get.bind(store);
    store.get = async (name) => {
      const bytes = await get(name);
      return name.startsWith("outcomes") ? bytes : bytes?.map((byte, k) => (k === 0 ? byte ^ 1 : byte));
    };
    expect((await fleet.execute(model, [input], keep))[8]).to.deep.equal(right[8]);
    expect(here.count()).to.equal(1);
  });

  it("wrongExecutor_isFoundByRepetition_andAskedNoMore", async () => {
    const wrong = counting((tensor) => void (tensor[0]! ^= 1));
    const sound = counting();
    const { fleet, tasks, store, health, outcomes, here } = fleetOf([wrong.execute, sound.execute], { againShare: 1 });
    expect((await fleet.execute(model, [input], keep))[8]).to.deep.equal(right[8]);
    expect(tasks.tasks.map(({ not }) => not)).to.deep.equal([[], ["e0"]]);
    expect([here.count(), wrong.count(), sound.count()]).to.deep.equal([1, 1, 1]);
    expect(outcomes).to.include("differs");
    expect(health.problem("fleet")).to.have.property("code", "EXECUTOR_WRONG");
    // Another role, and this one after a restart, find the right result.
    const options = { tasks, store, here: here.execute, againShare: 0, health: new Health(log), meter: NO_METER, log };
    expect((await new FleetExecutions(options).execute(model, [input], keep))[8]).to.deep.equal(right[8]);
    expect([wrong.count(), sound.count()]).to.deep.equal([1, 1]);
    const other = Uint8Array.from(input, (byte, k) => (k === 0 ? byte ^ 1 : byte));
    await fleet.execute(model, [other], keep);
    expect(wrong.count()).to.equal(1);
    expect(health.problem("fleet")?.reason).to.contain("e0 computed wrongly");
  });

  it("repetition_isMadeHere_whereThereIsNoOtherExecutor", async () => {
    const { fleet, here, outcomes } = fleetOf([counting().execute], { againShare: 1 });
    await fleet.execute(model, [input], keep);
    expect(here.count()).to.equal(1);
    expect(outcomes).to.include("again").and.not.include("differs");
  });

  it("share_isDrawn", async () => {
    const { fleet, outcomes } = fleetOf([counting().execute, counting().execute], { againShare: 0.5 });
    for (let k = 0; k < 60; k++) await fleet.execute(model, [Uint8Array.from(input).fill(k, 0, 4)], keep);
    // Of 60, fewer than 6 or more than 54 come once in 10^10 times.
    expect(outcomes.filter((outcome) => outcome === "again").length).to.be.within(6, 54);
  });

  it("queueThatIsAway_isReplacedByThisProcess", async () => {
    const { fleet, tasks, health, here } = fleetOf([counting().execute]);
    const submit = tasks.submit.bind(tasks);
    tasks.submit = () => Promise.reject(new QueueUnavailableError("the queue cannot be reached: ECONNREFUSED"));
    expect((await fleet.execute(model, [input], keep))[8]).to.deep.equal(right[8]);
    expect(here.count()).to.equal(1);
    expect(health.problem("fleet")?.reason).to.contain("ECONNREFUSED");
    tasks.submit = submit;
    await fleet.execute(model, [input], keep);
    expect(health.problem("fleet")).to.equal(undefined);
  });

  it("storeThatIsAway_isReplacedByThisProcess", async () => {
    const { fleet, store, here, outcomes } = fleetOf([counting().execute]);
    store.isFull = true;
    expect((await fleet.execute(model, [input], keep))[8]).to.deep.equal(right[8]);
    expect(outcomes).to.deep.equal(["here"]);
    store.isFull = false;
    await fleet.execute(model, [input], keep);
    expect(here.count()).to.equal(1);
  });

  it("withoutExecutors_andWithOneThatNeverAnswers_thisProcessExecutes", async () => {
    const none = fleetOf([]);
    expect((await none.fleet.execute(model, [input], keep))[8]).to.deep.equal(right[8]);
    expect(none.health.problem("fleet")?.reason).to.contain("no executor is connected");
    const patience = { min: 5, max: 50 };
    const silent = fleetOf([() => new Promise<never>(() => undefined)], { patience });
    const due = Date.now() / 1_000 + 3_600;
    expect((await silent.fleet.execute(model, [input], keep, new Map(), { due }))[8]).to.deep.equal(right[8]);
    expect(silent.health.problem("fleet")?.reason).to.contain("no executor did a task within");
    expect([none.here.count(), silent.here.count()]).to.deep.equal([1, 1]);
  });

  it("whoWasSilent_isNotWaitedForAgain_untilItAnswers", async () => {
    let answer = (): void => undefined;
    const slow = counting();
    const isFree = new Promise<void>((resolve) => (answer = resolve));
    const waiting: Execute = (...args) => isFree.then(() => slow.execute(...args));
    const { fleet, here, tasks } = fleetOf([waiting], { patience: { min: 1_000, max: 600_000 } });
    const due = Date.now() / 1_000;
    await fleet.execute(model, [input], keep, undefined, { due });
    await fleet.execute(model, [input], keep, undefined, { due: due + 10_000 });
    expect([here.count(), tasks.tasks.length]).to.deep.equal([2, 1]);
    answer();
    while (slow.count() === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await new Promise((resolve) => setTimeout(resolve, 20));
    await fleet.execute(model, [input], keep, undefined, { due: due + 10_000 });
    expect([here.count(), slow.count(), tasks.tasks.length]).to.deep.equal([2, 1, 2]);
  });

  it("aProgramThatNobodyKnows_silencesNoOther", async () => {
    const other = chainProgram(200, [2]);
    const one = counting();
    const { fleet, here, tasks } = fleetOf([one.execute], { patience: { min: 20, max: 600_000 } });
    const submit = tasks.submit.bind(tasks);
    tasks.submit = (task) =>
      task.programRoot === other.model.programRoot ? new Promise<never>(() => undefined) : submit(task);
    const due = Date.now() / 1_000;
    await fleet.execute(other.model, [other.input], () => true, undefined, { due });
    await fleet.execute(model, [input], keep, undefined, { due: due + 10_000 });
    expect([here.count(), one.count()]).to.deep.equal([1, 1]);
  });

  it("tasksThatAreNone_areRefused", async () => {
    const { handlers, store } = fleetOf([counting().execute]);
    const { programRoot } = model;
    const inputs = [{ root: tensorRoot(input), bytes: input.length }];
    const task = taskOf({ programRoot, inputs, steps: [8] }, 5, []);
    const wrong = [
      { ...task, id: "../../../etc/x" },
      { ...task, inputs: [{ ...inputs[0]!, root: `0x${"0".repeat(64)}` as const }] },
      { ...task, steps: [7] },
      { ...task, inputs: [{ root: "0x../../../etc/passwd" as never, bytes: 1 }] },
      taskOf({ programRoot, inputs: [{ ...inputs[0]!, bytes: 2 ** 40 }], steps: [8] }, 5, []),
      taskOf({ programRoot, inputs, steps: [99] }, 5, []),
      null as never,
    ];
    for (const one of wrong) expect(await rejection(handlers[0]!(one))).to.be.instanceOf(TaskFailedError);
    expect([...store.blobs.keys()]).to.deep.equal([]);
  });

  it("unknownProgramsAndTasksOfOthers_arePostponed", async () => {
    const options = {
      name: "e",
      programs: new ProgramLibrary(),
      store: new MemoryStore(),
      execute: counting().execute,
    };
    const { handle } = new TaskHandler(options);
    const { programRoot } = model;
    const task = taskOf({ programRoot, inputs: [], steps: [0] }, 5, []);
    expect(await rejection(handle(task))).to.be.instanceOf(Postponed);
    expect(await rejection(handle({ ...task, not: ["e"] }))).to.be.instanceOf(Postponed);
  });

  it("fullStore_pausesAnExecutor_andCostsATaskNoTry", async () => {
    const store = new MemoryStore();
    const programs = ProgramLibrary.of([subject]);
    const stop = new AbortController();
    const said: string[] = [];
    let handle: HandleTask | undefined;
    let resumed: (() => void) | undefined;
    const isResumed = new Promise<void>((resolve) => (resumed = resolve));
    const source = {
      pause: () => Promise.resolve(void said.push("pause")),
      resume: () => (said.push("resume"), resumed!()),
      isConnected: () => Promise.resolve(true),
      close: () => Promise.resolve(),
    };
    const running = runExecutor({
      ...{ name: "e", programs, store, execute: counting().execute, meter: NO_METER, log, lookMs: 5 },
      ...{ health: new Health(log), signal: stop.signal },
      take: (given) => ((handle = given), Promise.resolve(source)),
    });
    const tasks = new MemoryTasks([(task) => handle!(task)]);
    const here = counting().execute;
    const fleet = new FleetExecutions({
      ...{ tasks, store, here, againShare: 0, health: new Health(log), meter: NO_METER, log },
    });
    const put = store.put.bind(store);
    store.put = async (name, bytes) => {
      // There is room for inputs only.
      if (bytes.length === input.length && bytes.every((byte, k) => byte === input[k])) store.isFull = true;
      const isInput = store.isFull && !store.blobs.has("input");
      if (isInput) store.blobs.set("input", bytes).set(name, bytes);
      else await put(name, bytes);
    };
    expect((await fleet.execute(model, [input], keep))[8]).to.deep.equal(right[8]);
    expect(said).to.deep.equal(["pause"]);
    store.isFull = false;
    await isResumed;
    expect((await fleet.execute(model, [input], keep))[8]).to.deep.equal(right[8]);
    stop.abort();
    await running;
  });
});

describe("priorities of a fleet", () => {
  it("whatIsDueFirst_comesFirst_andWhatIsNever_last", () => {
    const now = Date.UTC(2026, 10, 25) / 1_000;
    const priorities = [0, now, now + 600, now + 1_200, Date.UTC(2080, 0, 1) / 1_000, null].map(priorityOf);
    expect(priorities).to.deep.equal([...priorities].sort((a, b) => a - b));
    expect(new Set(priorities).size).to.equal(priorities.length);
    expect(priorities[0]).to.equal(1);
    expect(priorities.at(-1)).to.equal(2 ** 21 - 1);
  });

  it("embeddedQueue_beginsWhatIsDueFirst", async () => {
    const begun: number[] = [];
    const ends: (() => void)[] = [];
    const queue = new EmbeddedQueue((_model, inputs) => {
      begun.push(inputs[0]![0]!);
      return new Promise((resolve) => ends.push(() => resolve([])));
    }, 1);
    const dues = [9, undefined, 7, 3, 7];
    const all = dues.map((due, k) =>
      queue.execute(model, [Uint8Array.of(k)], undefined, undefined, due ? { due } : {}),
    );
    for (let k = 0; k < dues.length; k++) {
      ends.shift()!();
      await all[begun.at(-1)!];
    }
    expect(begun).to.deep.equal([0, 3, 2, 4, 1]);
  });
});
