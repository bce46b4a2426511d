import { disputeGameAbi } from "../chain/abi/disputeGame.ts";
import { jobMarketAbi } from "../chain/abi/jobMarket.ts";
import { programFacts, type Execution } from "../player/execution.ts";
import type { ClaimRecord, JobRecord } from "../market/history.ts";
import { claimKeyOf } from "../market/ids.ts";
import type { Session } from "../market/session.ts";
import type { Delivery } from "../market/types.ts";
import type { WorkerEvent } from "./events.ts";

/** The numbers of the outputs that must be delivered on chain and are not yet. */
export function missingOutputs({ claim, delivered }: Pick<ClaimRecord, "claim" | "delivered">): number[] {
  const outputs = Array.from({ length: 64 }, (_, k) => k).filter((k) => (claim.job.deliverables >> BigInt(k)) & 1n);
  return outputs.filter((output) => !delivered.has(output));
}

/** An output with its opening under the trace root. */
export function deliveryOf({ model, commitment, trace }: Execution, output: number): Delivery {
  const j = model.program.outputs[output]!;
  const { step } = model.program.checkpoints[j]!;
  return {
    program: programFacts(commitment),
    output,
    data: `0x${Buffer.from(trace.tensor(step)).toString("hex")}`,
    siblings: trace.list.path(j),
  };
}

/** Finalises a claim whose window is over. */
export async function finalise({ sender, deployment }: Session, record: ClaimRecord): Promise<WorkerEvent> {
  const call = {
    address: deployment.market,
    abi: jobMarketAbi,
    functionName: "finalise",
    args: [record.claim],
  } as const;
  const receipt = await sender.send(call);
  return { kind: "finalised", jobId: record.jobId, claimId: record.id, receipt };
}

/** Gives back a job whose time to submit is over: the penalty is lost, the rest of the collateral is free again. */
export async function expire({ sender, deployment }: Session, { id, job }: JobRecord): Promise<WorkerEvent> {
  const call = { address: deployment.market, abi: jobMarketAbi, functionName: "expire", args: [job] } as const;
  return { kind: "expired", jobId: id, receipt: await sender.send(call) };
}

/** Delivers one output of a claim whose window is over, which finalises it with the first one and releases the fee with the last one. */
export async function deliver(
  { sender, deployment }: Session,
  record: ClaimRecord,
  execution: Execution,
  output: number,
): Promise<WorkerEvent> {
  const args = [record.claim, deliveryOf(execution, output)] as const;
  const receipt = await sender.send({ address: deployment.market, abi: jobMarketAbi, functionName: "deliver", args });
  return { kind: "delivered", jobId: record.jobId, claimId: record.id, output, receipt };
}

/** Collects what the worker's moves on a claim earned from bonds. @returns undefined if there is nothing. */
export async function collect(session: Session, record: ClaimRecord): Promise<WorkerEvent | undefined> {
  const { sender, deployment, publicClient } = session;
  const game = { address: deployment.game, abi: disputeGameAbi } as const;
  const [, , , earned] = await publicClient.readContract({ ...game, functionName: "claimGames", args: [record.id] });
  if (earned === 0n) return undefined;
  const args = [claimKeyOf(record.jobId, record.claim)] as const;
  const receipt = await sender.send({ ...game, functionName: "collect", args });
  return { kind: "collected", claimId: record.id, receipt };
}
