import type { Hex } from "viem";
import type { WorkerEvent } from "../../src/parties/worker/events.ts";
import type { WorkerPolicy } from "../../src/parties/worker/jobPolicy.ts";
import { TracePublisher } from "../../src/parties/worker/publisher.ts";
import type { Players, Running, Served } from "../players/players.ts";
import type { Execute } from "../../src/runs/execute.ts";

/** A worker that publishes its claims. */
type Server = { key: Hex; url: string; worker: Running<WorkerEvent>; stop: () => Promise<void> };

/**
 * Starts a worker with a server of the worker's claims.
 * @param policy The jobs that the worker takes, if not any job.
 * @param rhythm The interval between looks at the chain, if longer than usual in tests.
 */
export async function startServer(
  players: Players,
  program: Served,
  execute: Execute,
  policy: Partial<WorkerPolicy> = {},
  rhythm: { intervalMs?: number } = {},
): Promise<Server> {
  const publisher = new TracePublisher();
  const url = `http://127.0.0.1:${await publisher.listen(0)}`;
  const key = await players.workerKey();
  const worker = await players.startWorker(key, program, execute, {
    ...rhythm,
    publisher,
    policy: { minFee: 1n, marginSeconds: 10, ...policy },
  });
  let stopping: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    await worker.stop();
    await publisher.close();
  };
  return { key, url, worker, stop: () => (stopping ??= stop()) };
}
