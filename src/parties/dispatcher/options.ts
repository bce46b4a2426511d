import type { Session } from "../../chain/market/session.ts";
import type { OutageOptions } from "../requester/outages.ts";
import type { Batch } from "./batch.ts";
import type { DispatchEvent } from "./events.ts";
import type { DispatchStore } from "./store.ts";
import type { Execute } from "../../runs/execute.ts";

/** What a dispatcher pays, and asks of each job. Amounts in the smallest unit of the stake asset, times in seconds. */
export type DispatchTerms = {
  /** Of a part's first job. */
  fee: bigint;
  /** A fee is never raised above this. */
  maxFee: bigint;
  /** For the fees of all jobs together, without those that came back. */
  budget: bigint;
  window: number;
  claimSeconds: number;
  /** From the post, by which a submission must be due. */
  deadlineSeconds: number;
  answer: boolean;
};

/** How a batch is dispatched. */
export type DispatchOptions = {
  session: Session;
  batch: Batch;
  store: DispatchStore;
  /** Executes exactly, here: for checks, and for outputs that nobody serves. */
  execute: Execute;
  /** Servers of workers that publish their claims. */
  urls: readonly string[];
  terms: DispatchTerms;
  /** Jobs that are posted and not done, at most. */
  openJobs: number;
  /** Jobs of one part, at most. */
  maxAttempts: number;
  /** The probability with which a claim is checked, 0 to 1. It is drawn when the claim is there. */
  checkShare: number;
  /** A job that nobody claims for so long is taken back, if the next one may pay more. */
  openSeconds: number;
  /** Outputs of a final claim that nobody serves for so long are computed here. */
  withheldSeconds: number;
  /** Between two looks at the chain. */
  intervalMs: number;
  signal?: AbortSignal;
  onEvent?: (event: DispatchEvent) => void;
  onOutage?: OutageOptions["onOutage"];
};

/** A quarter more for a part that nobody wanted. */
const [RAISED, OF] = [5n, 4n];

/** What the next job of a part pays. @param wasWanted Whether a worker claimed the one before. */
export function nextFee(
  { fee, maxFee }: Pick<DispatchTerms, "fee" | "maxFee">,
  last?: bigint,
  wasWanted = true,
): bigint {
  if (last === undefined) return fee;
  if (wasWanted) return last;
  const raised = (last * RAISED + OF - 1n) / OF;
  return raised > maxFee ? (last > maxFee ? last : maxFee) : raised;
}
