import { Worker } from "node:worker_threads";
import { closeAtExit, endByForce, newGate, type GatedData, type NativeGate } from "../engine/nativeCalls.ts";

/** The time from a request to end until a thread is ended by force. */
const END_MS = 2_000;

/** The gates of all threads that run. */
const running = new Map<Worker, NativeGate>();

/**
 * Starts a thread with its own engine.
 * @param code The thread's code.
 * @param data The thread's start data.
 */
export function startThread(code: URL, data: object): Worker {
  const nativeGate = newGate();
  const workerData: GatedData = { ...data, nativeGate };
  const worker = new Worker(code, { workerData, execArgv: [], resourceLimits: { maxYoungGenerationSizeMb: 8 } });
  if (running.size === 0) process.once("exit", closeAll);
  running.set(worker, nativeGate);
  worker.once("exit", () => {
    running.delete(worker);
    if (running.size === 0) process.removeListener("exit", closeAll);
  });
  return worker;
}

/** Ends a thread by force. */
export async function terminate(worker: Worker): Promise<void> {
  const gate = running.get(worker);
  if (gate !== undefined) await endByForce(worker, gate);
}

/** Resolves when a thread has ended, by force if it takes too long. */
export async function ended(worker: Worker): Promise<void> {
  if (worker.threadId < 0) return;
  worker.ref();
  const timer = setTimeout(() => void terminate(worker), END_MS);
  await new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  clearTimeout(timer);
}

function closeAll(): void {
  for (const gate of running.values()) closeAtExit(gate);
}
