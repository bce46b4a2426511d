import type { ClaimRecord } from "../../src/chain/market/history.ts";
import { followMarket } from "../../src/chain/market/session.ts";
import type { KnownProgram } from "../../src/dispute/run/execution.ts";
import { first, type Players } from "./players.ts";
import type { Execute } from "../../src/runs/execute.ts";

/** A run's job: the program, inputs and items, and a flag that asks for an answer. */
type RunJob = { program: KnownProgram; inputs: readonly Uint8Array[]; items: number; answer?: boolean };

/** Has a cheat serve a job that an honest watcher watches. @returns the cheat's claim, once it is refuted */
export async function refutedClaim(
  players: Players,
  { program, inputs, items, answer = false }: RunJob,
  cheat: Execute,
  honest: Execute,
): Promise<ClaimRecord> {
  const worker = await players.startWorker(await players.workerKey(), program, cheat);
  const watcher = await players.startWatcher(await players.watcherKey(), program, honest);
  const { requester, jobId } = await players.post(program, inputs, { items, answer });
  await first(worker, "refuted");
  await Promise.all([worker.stop(), watcher.stop()]);
  const { history } = await followMarket(requester)();
  return history.jobs.get(jobId)!.claims[0]!;
}
