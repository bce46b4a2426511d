import { setTimeout as sleep } from "node:timers/promises";
import { EngineFaultError } from "../../executor/errors.ts";
import type { Meter } from "../figures.ts";
import { problemOf, type Health } from "../../base/health.ts";
import type { Logger } from "../../base/log.ts";
import { StoreFullError } from "./errors.ts";
import type { TaskOutcome, Task } from "./task.ts";
import { TaskHandler, type HandlerOptions } from "./taskHandler.ts";
import { Postponed, type HandleTask, type TaskSource } from "./taskQueue.ts";

type ExecutorOptions = HandlerOptions & {
  /** Begins to take tasks. */
  take: (handle: HandleTask) => Promise<TaskSource>;
  health: Health;
  meter: Meter;
  log: Logger;
  signal: AbortSignal;
  /** Called after each successful check of the executor's readiness for tasks. */
  onLook?: () => void;
  /** How often that is, milliseconds. */
  lookMs?: number;
};

const LOOK_MS = 5_000;

/** A test object: writing the object into a full store shows whether room is available again. */
const PROBE = new Uint8Array(2 ** 16);

/**
 * Does tasks of a fleet until the signal; those that were begun are ended. While the store has no room, none is taken.
 * @throws EngineFaultError if this machine computes wrongly: its tasks go to others
 */
export async function runExecutor(options: ExecutorOptions): Promise<void> {
  const { name, store, take, health, log, signal, onLook, lookMs = LOOK_MS } = options;
  const onExecute = ({ id, run }: Task): void => log.debug({ task: id, items: run?.items ?? 1 }, "task begins");
  const handler = new TaskHandler({ ...options, onExecute });
  let fault: EngineFaultError | undefined;
  let isFull = false;
  const taking: { source?: TaskSource } = {};
  const handle = async (task: Task): Promise<TaskOutcome> => {
    // The queue would give the task to this executor again and again, until the task counts as failed.
    if (fault !== undefined || isFull) throw new Postponed("this executor can do nothing now", lookMs);
    const begin = performance.now();
    try {
      const outcome = await handler.handle(task);
      const seconds = (performance.now() - begin) / 1_000;
      options.meter.executed(seconds);
      health.set("executes", undefined);
      log.info({ task: task.id, program: task.programRoot, seconds }, "task done");
      return outcome;
    } catch (error) {
      if (error instanceof Postponed) throw error;
      health.set("executes", problemOf(error, "a task failed"));
      if (error instanceof EngineFaultError) fault = error;
      if (error instanceof StoreFullError) {
        isFull = true;
        void taking.source?.pause();
      }
      if (fault !== undefined || isFull) throw new Postponed((error as Error).message, lookMs);
      log.warn({ task: task.id, reason: (error as Error).message }, "task failed");
      throw error;
    }
  };
  const source = (taking.source = await take(handle));
  log.info({ executor: name, store: store.name }, "executor starts");
  try {
    while (!signal.aborted && fault === undefined) {
      if (isFull && (await hasRoom(store, name))) {
        isFull = false;
        health.set("executes", undefined);
        source.resume();
      }
      const isConnected = await source.isConnected();
      health.set("fleet", isConnected ? undefined : { reason: "the queue cannot be reached" });
      onLook?.();
      await sleep(lookMs, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    await source.close();
    log.info("executor stops");
  }
  if (fault !== undefined) throw fault;
}

async function hasRoom(store: HandlerOptions["store"], name: string): Promise<boolean> {
  const probe = `probes/${name}`;
  try {
    await store.put(probe, PROBE);
    await store.delete(probe);
    return true;
  } catch {
    return false;
  }
}
