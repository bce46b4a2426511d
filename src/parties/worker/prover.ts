import type { Hex, TransactionReceipt } from "viem";
import type { Logger } from "../../base/log.ts";
import {
  ContractRevertError,
  InsufficientGasFundsError,
  TransactionRefusedError,
  TransactionRevertedError,
  TransactionTooLargeError,
} from "../../chain/errors.ts";
import { gasPriceNow } from "../../chain/gasPrice.ts";
import type { JobRecord } from "../../chain/market/history.ts";
import { proofContextOf } from "../../chain/market/ids.ts";
import type { Session } from "../../chain/market/session.ts";
import type { ClaimProof } from "../../chain/structs.ts";
import type { RunExecution } from "../../dispute/run/runExecution.ts";

/** Proves outputs under keys that the worker's settings name. */
export type Prover = {
  /** Whether the keys include the job's key, and the key names the job's program. */
  knows(job: Pick<JobRecord, "job" | "terms">): boolean;
  /** How many public values the proofs of a known job have, with the context. */
  publicValues(job: Pick<JobRecord, "terms">): number;
  /**
   * Proves the outputs of a known job.
   * @param context Of the job and the worker: `proofContextOf`.
   * @throws RefuteError if the key has no proof for the inputs
   */
  prove(job: Pick<JobRecord, "job" | "terms" | "program">, run: RunExecution, context: bigint): Promise<ClaimProof>;
};

/** Gas of `claimAndProve`, measured: without public values, and for each of these. */
const CALL_GAS = 310_000n;
const VALUE_GAS = 8_900n;

/** Whether a job pays the gas of a proof's call, at the price of now. */
async function paysFor({ publicClient }: Session, { job }: JobRecord, publicValues: number): Promise<boolean> {
  const gas = CALL_GAS + VALUE_GAS * BigInt(publicValues);
  return gas * (await gasPriceNow(publicClient)) <= job.fee;
}

/** The context of a session's proofs about a job. */
const contextOf = ({ id }: JobRecord, { deployment: { chainId, market }, sender }: Session): bigint =>
  proofContextOf(id, sender.address, chainId, market);

/** Less time than this is kept for a submission alone: the largest circuit takes some 24 s of one core. */
const PROVING_SECONDS = 300;

/** The longest time for one timer, in seconds. */
const MAX_TIMER_SECONDS = 1_000_000;

/** Waits for a proof. @returns undefined after the seconds: proofs of other jobs come first, or the prover hangs */
async function inTime<T>(asked: Promise<T>, seconds: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((done) => {
    timer = setTimeout(() => done(undefined), 1_000 * Math.min(seconds, MAX_TIMER_SECONDS));
  });
  try {
    return await Promise.race([asked, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Failures of a transaction with a proof that need not meet a submission without one. */
const REFUSALS = [
  ...[ContractRevertError, InsufficientGasFundsError, TransactionRefusedError],
  ...[TransactionRevertedError, TransactionTooLargeError],
];

/**
 * Submits the worker's job with a proof, which ends the claim at once.
 * @returns undefined if there is no proof, or the market does not take the proof: the job is submitted without.
 */
export async function submitProven(
  { session, log, prover }: { session: Session; log: Logger; prover?: Prover | undefined },
  job: JobRecord,
  run: RunExecution,
  nodes: Hex,
): Promise<TransactionReceipt | undefined> {
  if (job.terms === undefined || prover?.knows(job) !== true) return undefined;
  const by = Number(job.holder?.until ?? Infinity);
  const { timestamp } = await session.publicClient.getBlock();
  const seconds = by - Number(timestamp);
  if (seconds < PROVING_SECONDS) {
    log.warn({ job: job.id, by }, "too little time for a proof: submitted without");
    return undefined;
  }
  const isPaid = async (): Promise<boolean> => {
    if (await paysFor(session, job, prover.publicValues(job))) return true;
    log.warn({ job: job.id, fee: String(job.job.fee) }, "a proof's gas costs more than the fee: submitted without");
    return false;
  };
  if (!(await isPaid())) return undefined;
  let proof: ClaimProof | undefined;
  try {
    // SAFETY: half of the time stays for a submission without a proof.
    proof = await inTime(prover.prove(job, run, contextOf(job, session)), seconds / 2);
  } catch (error) {
    log.warn({ job: job.id, reason: (error as Error).message }, "no proof for a job with a key: submitted without");
    return undefined;
  }
  if (proof === undefined) {
    log.warn({ job: job.id, by }, "no proof in half of the job's time: submitted without");
    return undefined;
  }
  // Proving may have taken minutes, in which the price rose.
  if (!(await isPaid())) return undefined;
  try {
    return await session.market.claimAndProve(job.job, job.terms, nodes, proof, by);
  } catch (error) {
    // SAFETY: a proof is an option. What refuses it must not make the worker late.
    if (!REFUSALS.some((refusal) => error instanceof refusal)) throw error;
    log.error({ job: job.id, reason: (error as Error).message }, "the market does not take a proof: submitted without");
    return undefined;
  }
}
