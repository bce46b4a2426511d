import type { Hex } from "viem";
import type { Session } from "../../chain/market/session.ts";
import type { OutageOptions } from "../requester/outages.ts";
import type { Batch } from "./batch.ts";
import type { DispatchEvent } from "./events.ts";
import type { DispatchStore } from "./store.ts";
import type { Execute } from "../../runs/execute.ts";

/** The payments and job terms of a dispatcher. Amounts in the smallest unit of the stake asset, times in seconds. */
export type DispatchTerms = {
  /** Fee for a part's first job. */
  fee: bigint;
  /** A fee is never raised above this. */
  maxFee: bigint;
  /** Budget for the fees of all jobs together, minus refunds. */
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
  /** Probability of checking a claim, 0 to 1. The draw happens after the claim's submission. */
  checkShare: number;
  /**
   * A secret that draws, 32 random bytes: a claim's draw is a hash of the secret and the claim's id. Whoever learns the
   * secret later can repeat the draws. Publish the secret's hash before the first job: without the hash, a dispatcher
   * may have looked for a secret sparing a claim. Give no revealed secret to another batch: workers would know the
   * draws. Without a secret, draws are random numbers of the system.
   */
  checkSecret?: Hex;
  /** A job unclaimed for this time is cancelled, if the next job may pay more. */
  openSeconds: number;
  /** If no worker serves a final claim's outputs for this time, the dispatcher computes the outputs locally. */
  withheldSeconds: number;
  /** Between two looks at the chain. */
  intervalMs: number;
  /**
   * Puts a job's inputs, packed in one file, where workers and watchers can fetch the file, and returns the places
   * (docs/large-data.md). By default inputs go on chain.
   * @param name A name for the file, different for each job.
   */
  place?: (inputs: Uint8Array, name: string) => Promise<readonly string[]>;
  signal?: AbortSignal;
  onEvent?: (event: DispatchEvent) => void;
  onOutage?: OutageOptions["onOutage"];
};

/** A quarter more for a part that nobody wanted. */
const [RAISED, OF] = [5n, 4n];

/** Returns the fee of a part's next job. @param wasWanted True if a worker claimed the previous job. */
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
