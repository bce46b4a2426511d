import type { Answer, Ask } from "./messages.ts";

/** How long a thread may take to close its GPU. */
const CLOSING_MS = 1_000;

/** Starts a thread with compiler and executor. @param take Receives what it answers. */
export function startThread(take: (answer: Answer) => void): Worker {
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }: MessageEvent<Answer>) => take(data);
  worker.onerror = ({ message }) => take({ kind: "failed", message });
  return worker;
}

/**
 * Ends a thread. Where there are GPUs, the thread closes its own first: browsers promise nothing about the end of a
 * thread that uses one. A thread that computes does not listen, and is ended all the same.
 */
export function endThread(thread: Worker): void {
  if (!("gpu" in navigator)) return thread.terminate();
  const timer = setTimeout(() => thread.terminate(), CLOSING_MS);
  thread.onerror = null;
  thread.onmessage = ({ data }: MessageEvent<Answer>) => {
    if (data.kind !== "closed") return;
    clearTimeout(timer);
    thread.terminate();
  };
  thread.postMessage({ kind: "close" } satisfies Ask);
}
