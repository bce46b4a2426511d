import { strict as assert } from "node:assert";
import { spawn, type ChildProcess } from "node:child_process";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { killAtExit } from "../../../src/deploy/devnet/killAtExit.ts";
import { BullTasks, takeTasks } from "../../../src/runs/fleet/bullTasks.ts";
import { PoisonedTaskError, QueueUnavailableError, TaskFailedError } from "../../../src/runs/fleet/errors.ts";
import { taskOf, type TaskOutcome, type Task } from "../../../src/runs/fleet/task.ts";
import { Postponed, type HandleTask, type TaskSource } from "../../../src/runs/fleet/taskQueue.ts";
import { rejection } from "../../../testkit/rejection.ts";
import { PASSWORD, type Redis } from "./redis.ts";

/** Executors that are silent for so long are dead: short, so that the check is. */
export const LEASE_MS = 1_000;

/** The program of the task that ends executors. */
export const POISON = `0x${"dead".repeat(16)}` as const;

const ROOT = `0x${"00".repeat(32)}` as const;
const onError = (): void => undefined;
const done = (executor: string): TaskOutcome => ({ executor, tensors: [] });
const task = (k: number, due = Infinity, programRoot: `0x${string}` = ROOT): Task =>
  taskOf({ programRoot, inputs: [], steps: [k] }, due, []);

/** What a queue promises, on a server: each check has names of its own there. */
export class QueueChecks {
  readonly #redis: Redis;
  #prefix = "";

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  /** @throws AssertionError for the first promise that is broken */
  async run(): Promise<void> {
    const checks = {
      "a task that fails is tried again, until it counts as failed": () => this.#retries(),
      "what is due first is done first": () => this.#deadlines(),
      "a task is done once, whoever asks for it": () => this.#duplicates(),
      "what an executor postpones, another one does": () => this.#postponed(),
      "a dead executor's task goes to another one": () => this.#deadExecutor(),
      "a task that ends executors is taken from them": () => this.#poison(),
      "a server that is away is named, and what it lost is asked for again": () => this.#lostServer(),
      "a wrong password is refused": () => this.#wrongPassword(),
    };
    for (const [what, check] of Object.entries(checks)) {
      this.#prefix = what.replaceAll(/\W/g, "");
      await check();
      console.log(`queue: ${what}`);
    }
  }

  #open(): Promise<BullTasks> {
    return BullTasks.open({ url: this.#redis.url, password: PASSWORD, onError, prefix: this.#prefix });
  }

  #take(handle: HandleTask, name = "one", atOnce = 1): Promise<TaskSource> {
    const at = { url: this.#redis.url, password: PASSWORD, prefix: this.#prefix };
    return takeTasks({ ...at, onError, name, atOnce, leaseMs: LEASE_MS }, handle);
  }

  async #with(handle: HandleTask, use: (tasks: BullTasks) => Promise<void>): Promise<void> {
    const [tasks, source] = [await this.#open(), await this.#take(handle)];
    try {
      await use(tasks);
    } finally {
      await source.close();
      await tasks.close();
    }
  }

  async #retries(): Promise<void> {
    const tries = new Map<string, number>();
    const handle: HandleTask = ({ id, steps }) => {
      tries.set(id, (tries.get(id) ?? 0) + 1);
      if (tries.get(id)! <= steps[0]!) return Promise.reject(new Error("no memory"));
      return Promise.resolve(done("one"));
    };
    await this.#with(handle, async (tasks) => {
      assert.equal((await tasks.submit(task(2))).executor, "one");
      assert.equal(tries.get(task(2).id), 3);
      const error = await rejection(tasks.submit(task(99)));
      assert(error instanceof TaskFailedError);
      assert.match(error.message, /failed 5 times, the last time: no memory/);
      // It is not tried again at once.
      assert((await rejection(tasks.submit(task(99)))) instanceof TaskFailedError);
      assert.equal(tries.get(task(99).id), 5);
    });
  }

  async #deadlines(): Promise<void> {
    const tasks = await this.#open();
    const now = Date.now() / 1_000;
    const dues = [9, Infinity, 3, 1, 7, 5].map((hours) => now + hours * 3_600);
    const order: number[] = [];
    const all = dues.map((due, k) => tasks.submit(task(k, due)));
    await sleep(200);
    const source = await this.#take(({ steps }) => (order.push(steps[0]!), Promise.resolve(done("one"))));
    await Promise.all(all);
    await source.close();
    await tasks.close();
    assert.deepEqual(order, [3, 2, 5, 4, 0, 1]);
  }

  async #duplicates(): Promise<void> {
    let count = 0;
    const handle: HandleTask = async () => {
      count++;
      await sleep(50);
      return done("one");
    };
    await this.#with(handle, async (tasks) => {
      const others = await this.#open();
      await Promise.all([tasks, others, tasks, others].map((queue) => queue.submit(task(1))));
      await tasks.submit(task(1));
      await others.close();
      assert.equal(count, 1);
    });
  }

  async #postponed(): Promise<void> {
    const refuse: HandleTask = () => Promise.reject(new Postponed("not by me", 50));
    const sources = [await this.#take(refuse, "one"), await this.#take(() => Promise.resolve(done("two")), "two")];
    const tasks = await this.#open();
    assert.equal(await tasks.executors(), 2);
    const outcomes = await Promise.all([1, 2, 3, 4].map((k) => tasks.submit(task(k))));
    assert(outcomes.every(({ executor }) => executor === "two"));
    for (const source of sources) await source.close();
    await tasks.close();
  }

  async #deadExecutor(): Promise<void> {
    this.#prefix = "refute";
    const tasks = await this.#open();
    const outcome = tasks.submit(task(1, Infinity, POISON));
    await this.#crash();
    const source = await this.#take(() => Promise.resolve(done("another")));
    assert.equal((await outcome).executor, "another");
    await source.close();
    await tasks.close();
  }

  async #poison(): Promise<void> {
    this.#prefix = "refute";
    const tasks = await this.#open();
    const poisoned = rejection(tasks.submit(task(2, Infinity, POISON)));
    for (let k = 0; k < 3; k++) await this.#crash();
    // The last death is found by those who live.
    const source = await this.#take(() => Promise.resolve(done("one")));
    assert((await poisoned) instanceof PoisonedTaskError);
    assert((await rejection(tasks.submit(task(2, Infinity, POISON)))) instanceof PoisonedTaskError);
    assert.equal((await tasks.submit(task(3))).executor, "one");
    await source.close();
    await tasks.close();
  }

  /** Starts an executor and waits until a task has ended it. */
  async #crash(): Promise<void> {
    const program = resolve("tools/verify/fleet/crasher.ts");
    const child: ChildProcess = spawn(process.execPath, ["--import", "tsx", program, this.#redis.url, "crasher"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    killAtExit(child);
    let said = "";
    child.stdout!.on("data", (chunk: Buffer) => (said += chunk.toString()));
    await new Promise((ended) => child.once("exit", ended));
    assert.match(said, /took/);
  }

  async #lostServer(): Promise<void> {
    const tasks = await this.#open();
    const waiting = tasks.submit(task(1));
    await sleep(100);
    await this.#redis.kill();
    assert((await rejection(tasks.submit(task(2)))) instanceof QueueUnavailableError);
    await this.#redis.start();
    const source = await this.#take(() => Promise.resolve(done("one")));
    assert.equal((await waiting).executor, "one");
    assert.equal((await tasks.submit(task(2))).executor, "one");
    await source.close();
    await tasks.close();
  }

  async #wrongPassword(): Promise<void> {
    const at = { url: this.#redis.url, prefix: this.#prefix, onError };
    const tasks = await BullTasks.open({ ...at, password: "other" });
    assert((await rejection(tasks.submit(task(1)))) instanceof QueueUnavailableError);
    await tasks.close();
  }
}
