import type { Job, Queue, QueueEvents, Worker } from "bullmq";
import type { Redis } from "ioredis";
import { setTimeout as sleep } from "node:timers/promises";
import { withPackages } from "../../base/optionalPackage.ts";
import { PoisonedTaskError, QueueUnavailableError, TaskFailedError } from "./errors.ts";
import { isOutcome, type TaskOutcome, type Task } from "./task.ts";
import { Postponed, type HandleTask, type TaskQueue, type TaskSource } from "./taskQueue.ts";

/** Where the queue is: a server of Redis or Valkey. */
type BullOptions = {
  /** `redis://host:port/number`, or `rediss://` for TLS; without a password. */
  url: string;
  password?: string | undefined;
  /** Called with connection failures. The connection is restored. */
  onError: (error: Error) => void;
  /** Before the names of what lies there: two fleets can share a server. */
  prefix?: string;
};

/** How an executor takes tasks. */
type SourceOptions = BullOptions & {
  name: string;
  /** Tasks at a time. */
  atOnce: number;
  /** The lease, milliseconds. A silent executor then counts as dead: its tasks go to other executors. */
  leaseMs?: number;
};

const QUEUE = "executions";
const PREFIX = "refute";
const LEASE_MS = 30_000;

/** Tries for a failing task, with doubling pauses. */
const TRIES = 5;
const FIRST_PAUSE_MS = 1_000;

/** How many executors a task may kill before counting as poisoned. */
const MAX_DEATHS = 2;

/** Finished tasks are remembered for an hour. Afterwards the store still has their results. */
const DONE = { age: 3_600, count: 100_000 };

/** Failed tasks are remembered for a day. */
const FAILED = { age: 86_400, count: 10_000 };

/** Pauses in milliseconds before another try: for a failed task, and for a task that killed executors. */
const FAILED_MS = 60_000;
const POISONED_MS = 600_000;

/** How often to look for outcomes whose messages were lost, and after how long a message counts as lost. */
const LOOK_MS = 2_000;
const LOOKS_AT_ONCE = 200;
const CONNECT_MS = 5_000;
const CLOSE_MS = 2_000;

/** BullMQ has priorities from 1, the first, to this. */
const LAST = 2 ** 21 - 1;

/** A priority stands for two minutes from here on: enough until 2033. */
const PERIOD = 120;
const EPOCH = Date.UTC(2026, 0, 1) / 1_000;

/** Returns the priority of work due at a unix time in seconds. Work without a due time comes last. */
export const priorityOf = (due: number | null): number =>
  due === null ? LAST : Math.min(LAST - 1, Math.max(1, Math.floor((due - EPOCH) / PERIOD)));

/** Both packages are peers: only a fleet needs them. @throws MissingPackageError */
const load = () =>
  withPackages(["bullmq", "ioredis"], "a queue for several machines", async () => {
    const [bullmq, { Redis }] = await Promise.all([import("bullmq"), import("ioredis")]);
    return { ...bullmq, Redis };
  });

type Loaded = Awaited<ReturnType<typeof load>>;

/** After closing, nothing restores a connection, including the connections that BullMQ copies. */
type Life = { isClosed: boolean };

/** @param isPatient Whether commands wait for a lost connection; else they fail at once. */
function connect({ Redis }: Loaded, { url, password, onError }: BullOptions, life: Life, isPatient: boolean): Redis {
  const client = new Redis(url, {
    ...(password !== undefined && { password }),
    maxRetriesPerRequest: isPatient ? null : 1,
    connectTimeout: CONNECT_MS,
    retryStrategy: (times) => (life.isClosed ? null : Math.min(100 * 2 ** times, 5_000)),
  });
  client.on("error", onError);
  return client;
}

type Pending = {
  task: Task;
  since: number;
  promise?: Promise<TaskOutcome>;
  resolve: (outcome: TaskOutcome) => void;
  reject: (error: Error) => void;
};

/** A queue by BullMQ. */
export class BullTasks implements TaskQueue {
  readonly #queue: Queue;
  readonly #events: QueueEvents;
  readonly #clients: readonly Redis[];
  readonly #pending = new Map<string, Pending>();
  readonly #look: NodeJS.Timeout;
  readonly #life: Life;

  private constructor(queue: Queue, events: QueueEvents, clients: readonly Redis[], life: Life) {
    [this.#queue, this.#events, this.#clients, this.#life] = [queue, events, clients, life];
    events.on("completed", ({ jobId, returnvalue }) => this.#settle(jobId, returnvalue as unknown));
    events.on("failed", ({ jobId, failedReason }) => this.#fail(jobId, failedReason));
    this.#look = setInterval(() => void this.#lookAgain().catch(() => undefined), LOOK_MS).unref();
  }

  /** Opens a queue. The first use shows whether the server answers. @throws MissingPackageError */
  static async open(options: BullOptions): Promise<BullTasks> {
    const loaded = await load();
    const life = { isClosed: false };
    const clients = [connect(loaded, options, life, false), connect(loaded, options, life, true)] as const;
    const prefix = options.prefix ?? PREFIX;
    const queue = new loaded.Queue(QUEUE, { connection: clients[0], prefix });
    const events = new loaded.QueueEvents(QUEUE, { connection: clients[1], prefix });
    queue.on("error", options.onError);
    events.on("error", options.onError);
    return new BullTasks(queue, events, clients, life);
  }

  async submit(task: Task): Promise<TaskOutcome> {
    if (this.#life.isClosed) throw new QueueUnavailableError("the queue is closed");
    const known = this.#pending.get(task.id);
    if (known?.promise !== undefined) return known.promise;
    const promise = new Promise<TaskOutcome>((resolve, reject) => {
      this.#pending.set(task.id, { task, since: Date.now(), resolve, reject });
    });
    // Whoever waits handles it; nobody waits yet while it is added.
    promise.catch(() => undefined);
    this.#pending.get(task.id)!.promise = promise;
    try {
      await this.#reach();
      await available(this.#add(task));
    } catch (error) {
      this.#pending.get(task.id)?.reject(error as Error);
      this.#pending.delete(task.id);
    }
    return promise;
  }

  async executors(): Promise<number> {
    await this.#reach();
    return available(this.#queue.getWorkersCount());
  }

  async forget(id: string): Promise<void> {
    await this.#reach();
    await available(this.#queue.remove(id));
  }

  async close(): Promise<void> {
    this.#life.isClosed = true;
    clearInterval(this.#look);
    for (const { reject } of this.#pending.values()) reject(new QueueUnavailableError("the queue is closed"));
    this.#pending.clear();
    // Without a connection, both would wait for one.
    const closed = Promise.allSettled([this.#events.close(), this.#queue.close()]);
    await Promise.race([closed, sleep(CLOSE_MS, undefined, { ref: false })]);
    // Each object has connections of its own, in addition to the given connections.
    for (const one of [this.#events, this.#queue]) one.disconnect().catch(() => undefined);
    for (const client of this.#clients) client.disconnect();
  }

  /** BullMQ would wait for a server that has never answered. @throws QueueUnavailableError */
  async #reach(): Promise<void> {
    const [client] = this.#clients;
    if (client!.status === "ready") return;
    const late = sleep(CONNECT_MS, undefined, { ref: false }).then(() => {
      throw new Error(`no answer within ${CONNECT_MS / 1_000} s`);
    });
    await available(Promise.race([client!.ping(), late]));
  }

  async #add(task: Task): Promise<void> {
    // An existing task is not replaced.
    const job = await this.#queue.add("execute", task, {
      jobId: task.id,
      priority: priorityOf(task.due),
      attempts: TRIES,
      backoff: { type: "exponential", delay: FIRST_PAUSE_MS },
      removeOnComplete: DONE,
      removeOnFail: FAILED,
    });
    await this.#lookAt(job.id!);
  }

  /** Settles a finished or failed task, or adds the task again: the server may have lost it. */
  async #lookAt(id: string): Promise<void> {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    const job = (await this.#queue.getJob(id)) as Job<Task> | undefined;
    if (job === undefined) return this.#add(pending.task);
    if (job.finishedOn === undefined) return;
    if (job.failedReason === undefined || job.failedReason === "") return this.#settle(id, job.returnvalue as unknown);
    const isOld = Date.now() - job.finishedOn > (isDeadly(job.failedReason) ? POISONED_MS : FAILED_MS);
    if (!isOld) return this.#fail(id, job.failedReason);
    await job.remove();
    await this.#add(pending.task);
  }

  async #lookAgain(): Promise<void> {
    const missed = [...this.#pending].filter(([, { since }]) => Date.now() - since > LOOK_MS).slice(0, LOOKS_AT_ONCE);
    for (const [id, pending] of missed) {
      // The next ones come next time.
      this.#pending.delete(id);
      this.#pending.set(id, pending);
      await this.#lookAt(id);
    }
  }

  #settle(id: string, value: unknown): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    // News have it as a text.
    const outcome = typeof value === "string" ? parsed(value) : value;
    if (isOutcome(outcome)) pending.resolve(outcome);
    else pending.reject(new TaskFailedError(`the outcome of task ${id} has another form`));
  }

  #fail(id: string, reason: string): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    const { programRoot } = pending.task;
    pending.reject(
      isDeadly(reason)
        ? new PoisonedTaskError(
            `task ${id} of program ${programRoot} ended ${MAX_DEATHS + 1} executors: look at their logs and memory; ` +
              `it is tried again after ${POISONED_MS / 60_000} minutes`,
          )
        : new TaskFailedError(`task ${id} of program ${programRoot} failed ${TRIES} times, the last time: ${reason}`),
    );
  }
}

const isDeadly = (reason: string): boolean => reason.includes("stalled more than");

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @throws QueueUnavailableError for the errors of an unreachable queue */
async function available<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new QueueUnavailableError(`the queue cannot be reached: ${code ?? message}`, { cause });
  }
}

/** Takes tasks from a BullMQ queue, which may be unreachable at first. @throws MissingPackageError */
export async function takeTasks(options: SourceOptions, handle: HandleTask): Promise<TaskSource> {
  const loaded = await load();
  const life = { isClosed: false };
  const client = connect(loaded, options, life, true);
  const { name, atOnce, leaseMs = LEASE_MS } = options;
  const process = async (job: Job<Task, TaskOutcome>, token?: string): Promise<TaskOutcome> => {
    try {
      return await handle(job.data);
    } catch (error) {
      if (!(error instanceof Postponed)) throw error;
      await job.moveToDelayed(Date.now() + error.afterMs, token);
      throw new loaded.DelayedError();
    }
  };
  const worker: Worker<Task, TaskOutcome> = new loaded.Worker<Task, TaskOutcome>(QUEUE, process, {
    connection: client,
    prefix: options.prefix ?? PREFIX,
    name,
    concurrency: atOnce,
    lockDuration: leaseMs,
    stalledInterval: Math.ceil(leaseMs / 2),
    maxStalledCount: MAX_DEATHS,
  });
  worker.on("error", options.onError);
  return {
    pause: () => worker.pause(true),
    resume: () => void worker.resume(),
    isConnected: () =>
      Promise.race([
        client.ping().then(
          () => true,
          () => false,
        ),
        sleep(CONNECT_MS, false, { ref: false }),
      ]),
    close: async () => {
      await worker.close();
      life.isClosed = true;
      client.disconnect();
    },
  };
}
