/** What a queue of executions promises, on a server of Valkey or Redis. */
import { expect } from "chai";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { killAtExit } from "../../../src/deploy/devnet/killAtExit.ts";
import { BullTasks, takeTasks } from "../../../src/runs/fleet/bullTasks.ts";
import { PoisonedTaskError, QueueUnavailableError, TaskFailedError } from "../../../src/runs/fleet/errors.ts";
import { taskOf, type Task } from "../../../src/runs/fleet/task.ts";
import { Postponed, type HandleTask, type TaskSource } from "../../../src/runs/fleet/taskQueue.ts";
import { rejection } from "../../../testkit/rejection.ts";
import { PASSWORD } from "./redis.ts";
import { done, LEASE_MS, POISON } from "./tasks.ts";
import { useRedis } from "./useRedis.ts";

const ROOT = `0x${"00".repeat(32)}` as const;
/** The names that processes use on a server by default. */
const USUAL_PREFIX = "refute";
const CRASHER = join(import.meta.dirname, "crasher.ts");
const onError = (): void => undefined;
const task = (k: number, due = Infinity, programRoot: `0x${string}` = ROOT): Task =>
  taskOf({ programRoot, inputs: [], steps: [k] }, due, []);

describe("a queue of executions", function () {
  this.timeout(300_000);
  const redis = useRedis();
  let prefix = "";
  let tests = 0;
  // Each test has names of its own on the server.
  beforeEach(() => void (prefix = `test${tests++}`));

  const open = (): Promise<BullTasks> => BullTasks.open({ url: redis().url, password: PASSWORD, onError, prefix });

  const take = (handle: HandleTask, name = "one"): Promise<TaskSource> => {
    const at = { url: redis().url, password: PASSWORD, prefix };
    return takeTasks({ ...at, onError, name, atOnce: 1, leaseMs: LEASE_MS }, handle);
  };

  async function withOne(handle: HandleTask, use: (tasks: BullTasks) => Promise<void>): Promise<void> {
    const [tasks, source] = [await open(), await take(handle)];
    try {
      await use(tasks);
    } finally {
      await source.close();
      await tasks.close();
    }
  }

  /** Starts an executor and waits until a task has ended it. */
  async function crash(): Promise<void> {
    const args = [CRASHER, redis().url, "crasher"];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    killAtExit(child);
    let printed = "";
    child.stdout.on("data", (chunk: Buffer) => (printed += chunk.toString()));
    await new Promise((ended) => child.once("exit", ended));
    expect(printed).to.include("took");
  }

  it("taskThatFails_isTriedAgain_untilItCountsAsFailed", async () => {
    const tries = new Map<string, number>();
    const handle: HandleTask = ({ id, steps }) => {
      tries.set(id, (tries.get(id) ?? 0) + 1);
      if (tries.get(id)! <= steps[0]!) return Promise.reject(new Error("no memory"));
      return Promise.resolve(done("one"));
    };
    await withOne(handle, async (tasks) => {
      expect((await tasks.submit(task(2))).executor).to.equal("one");
      expect(tries.get(task(2).id)).to.equal(3);
      const error = await rejection(tasks.submit(task(99)));
      expect(error).to.be.instanceOf(TaskFailedError);
      expect(error.message).to.match(/failed 5 times, the last time: no memory/);
      // It is not tried again at once.
      expect(await rejection(tasks.submit(task(99)))).to.be.instanceOf(TaskFailedError);
      expect(tries.get(task(99).id)).to.equal(5);
    });
  });

  it("tasks_areDoneInTheOrderOfTheirDeadlines", async () => {
    const tasks = await open();
    const now = Date.now() / 1_000;
    const dues = [9, Infinity, 3, 1, 7, 5].map((hours) => now + hours * 3_600);
    const order: number[] = [];
    const all = dues.map((due, k) => tasks.submit(task(k, due)));
    await sleep(200);
    const source = await take(({ steps }) => (order.push(steps[0]!), Promise.resolve(done("one"))));
    await Promise.all(all);
    await source.close();
    await tasks.close();
    expect(order).to.deep.equal([3, 2, 5, 4, 0, 1]);
  });

  it("task_isDoneOnce_whoeverAsksForIt", async () => {
    let count = 0;
    const handle: HandleTask = async () => {
      count++;
      await sleep(50);
      return done("one");
    };
    await withOne(handle, async (tasks) => {
      const others = await open();
      await Promise.all([tasks, others, tasks, others].map((queue) => queue.submit(task(1))));
      await tasks.submit(task(1));
      await others.close();
      expect(count).to.equal(1);
    });
  });

  it("taskThatAnExecutorPostpones_isDoneByAnotherOne", async () => {
    const refuse: HandleTask = () => Promise.reject(new Postponed("not by me", 50));
    const sources = [await take(refuse, "one"), await take(() => Promise.resolve(done("two")), "two")];
    const tasks = await open();
    expect(await tasks.executors()).to.equal(2);
    const outcomes = await Promise.all([1, 2, 3, 4].map((k) => tasks.submit(task(k))));
    expect(outcomes.map(({ executor }) => executor)).to.deep.equal(["two", "two", "two", "two"]);
    for (const source of sources) await source.close();
    await tasks.close();
  });

  it("taskOfADeadExecutor_goesToAnotherOne", async () => {
    prefix = USUAL_PREFIX;
    const tasks = await open();
    const outcome = tasks.submit(task(1, Infinity, POISON));
    await crash();
    const source = await take(() => Promise.resolve(done("another")));
    expect((await outcome).executor).to.equal("another");
    await source.close();
    await tasks.close();
  });

  it("taskThatEndsExecutors_isTakenFromThem", async () => {
    prefix = USUAL_PREFIX;
    const tasks = await open();
    const poisoned = rejection(tasks.submit(task(2, Infinity, POISON)));
    for (let k = 0; k < 3; k++) await crash();
    // The last death is found by executors that live.
    const source = await take(() => Promise.resolve(done("one")));
    expect(await poisoned).to.be.instanceOf(PoisonedTaskError);
    expect(await rejection(tasks.submit(task(2, Infinity, POISON)))).to.be.instanceOf(PoisonedTaskError);
    expect((await tasks.submit(task(3))).executor).to.equal("one");
    await source.close();
    await tasks.close();
  });

  it("serverThatIsAway_isNamed_andTasksThatItLostAreAskedForAgain", async () => {
    const tasks = await open();
    const waiting = tasks.submit(task(1));
    await sleep(100);
    await redis().kill();
    expect(await rejection(tasks.submit(task(2)))).to.be.instanceOf(QueueUnavailableError);
    await redis().start();
    const source = await take(() => Promise.resolve(done("one")));
    expect((await waiting).executor).to.equal("one");
    expect((await tasks.submit(task(2))).executor).to.equal("one");
    await source.close();
    await tasks.close();
  });

  it("wrongPassword_isRefused", async () => {
    const tasks = await BullTasks.open({ url: redis().url, prefix, onError, password: "other" });
    expect(await rejection(tasks.submit(task(1)))).to.be.instanceOf(QueueUnavailableError);
    await tasks.close();
  });
});
