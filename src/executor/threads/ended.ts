import type { Worker } from "node:worker_threads";

/** A thread that is asked to end is ended by force after this time. */
const END_MS = 2_000;

/** Resolves when a thread has ended, by force if it takes too long. */
export async function ended(worker: Worker): Promise<void> {
  if (worker.threadId < 0) return;
  worker.ref();
  const timer = setTimeout(() => void worker.terminate(), END_MS);
  await new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  clearTimeout(timer);
}
