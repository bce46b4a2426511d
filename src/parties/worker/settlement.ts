import { programFacts } from "../../dispute/run/execution.ts";
import { outputAt, type RunExecution } from "../../dispute/run/runExecution.ts";
import type { ClaimRecord, JobRecord } from "../../chain/market/history.ts";
import { claimKeyOf } from "../../chain/market/ids.ts";
import type { Session } from "../../chain/market/session.ts";
import type { Delivery, Job } from "../../chain/structs.ts";
import { toHex } from "../../program/merkle/hash.ts";
import type { WorkerEvent } from "./events.ts";

/** Returns the numbers of a job's outputs to deliver on chain. @param deliverables One bit per output. */
export const wantedOutputs = ({ deliverables }: Pick<Job, "deliverables">): number[] =>
  Array.from({ length: 64 }, (_, k) => k).filter((k) => (deliverables >> BigInt(k)) & 1n);

/** The numbers of the outputs that must be delivered on chain and are not yet; none once the fee was reclaimed. */
export const missingOutputs = ({
  claim,
  delivered,
  reclaimed,
}: Pick<ClaimRecord, "claim" | "delivered" | "reclaimed">): number[] =>
  reclaimed ? [] : wantedOutputs(claim.job).filter((output) => !delivered.has(output));

/** Returns the last item's output, with an opening under the claim's root. */
export function deliveryOf(run: RunExecution, output: number): Delivery {
  const { commitment } = run.program;
  const item = run.items - 1;
  const { bytes, siblings } = outputAt(run, item, run.item(item).trace, output)!;
  return { program: programFacts(commitment), output, data: toHex(bytes), siblings };
}

/** Finalises a claim whose window is over. */
export async function finalise({ market }: Session, record: ClaimRecord): Promise<WorkerEvent> {
  const receipt = await market.finalise(record.claim);
  return { kind: "finalised", jobId: record.jobId, claimId: record.id, receipt };
}

/**
 * Returns a job to the market after the submission time: the penalty is lost, and the remaining collateral becomes
 * free.
 */
export async function expire({ market }: Session, { id, job, terms }: JobRecord): Promise<WorkerEvent> {
  return { kind: "expired", jobId: id, receipt: await market.expire(job, terms) };
}

/**
 * Delivers a claim's output after the window: the first delivery finalises the claim, and the last delivery releases
 * the fee.
 */
export async function deliver({ market }: Session, record: ClaimRecord, delivery: Delivery): Promise<WorkerEvent> {
  const receipt = await market.deliver(record.claim, delivery);
  const { output } = delivery;
  return { kind: "delivered", jobId: record.jobId, claimId: record.id, output, receipt };
}

/** Collects what the worker's moves on a claim earned from bonds. @returns undefined if there is nothing. */
export async function collect({ game }: Session, record: ClaimRecord): Promise<WorkerEvent | undefined> {
  const { earned } = await game.claimGames(record.id);
  if (earned === 0n) return undefined;
  const receipt = await game.collect(claimKeyOf(record.jobId, record.claim));
  return { kind: "collected", claimId: record.id, receipt };
}
