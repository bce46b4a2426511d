import { workerData, type Worker } from "node:worker_threads";

// Otherwise onnxruntime writes a device's id into a cache, and reports models and this machine to Microsoft. The
// library reads the variable when loaded. Only the main thread can set a variable for the library, and only the main
// thread starts threads with engines: the thread loads this module before. A value that the operator has set stays.
process.env.ORT_DISABLE_TELEMETRY ??= "1";

/**
 * A word in shared memory that records whether a thread runs inside onnxruntime. Each thread calling onnxruntime has
 * its own word. A thread ended by force inside onnxruntime takes the whole process with it: the addon then cannot
 * create its results, and aborts.
 */
export type NativeGate = SharedArrayBuffer;

const [OPEN, INSIDE, CLOSED] = [0, 1, 2] as const;
const POLL_MS = 1;

/** The start data of a thread calling onnxruntime, besides the thread's own data. */
export type GatedData = { nativeGate: NativeGate };

/** A gate for a new thread. */
export const newGate = (): NativeGate => new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);

/** That of this thread; the main thread has none. */
const { nativeGate } = (workerData ?? {}) as Partial<GatedData>;
const own = nativeGate && new Int32Array(nativeGate);

/** Calls native code. Threads make every addon call through this function. */
export function nativeCall<T>(call: () => T): T {
  if (own === undefined) return call();
  if (Atomics.compareExchange(own, 0, OPEN, INSIDE) !== OPEN) throw new Error("this thread is being ended");
  try {
    return call();
  } finally {
    Atomics.store(own, 0, OPEN);
    Atomics.notify(own, 0);
  }
}

/** Whether a thread is outside native code, and does not enter it any more. */
function closes(word: Int32Array): boolean {
  return Atomics.compareExchange(word, 0, OPEN, CLOSED) !== INSIDE;
}

/** Ends a thread by force once the thread runs outside native code. */
export async function endByForce(worker: Worker, gate: NativeGate): Promise<void> {
  const word = new Int32Array(gate);
  while (!closes(word)) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  await worker.terminate();
}

/** Does the same as `endByForce` without awaiting: an exiting process ends its threads by force. */
export function closeAtExit(gate: NativeGate): void {
  const word = new Int32Array(gate);
  while (!closes(word)) Atomics.wait(word, 0, INSIDE);
}
