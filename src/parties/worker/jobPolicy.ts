import { formatEther } from "viem";
import { workSeconds } from "../../chain/market/clock.ts";
import type { JobRecord } from "../../chain/market/history.ts";
import { hasInputs } from "../../chain/market/jobInputs.ts";
import type { Session } from "../../chain/market/session.ts";
import type { Problem } from "../../base/health.ts";
import { ineligibility } from "../../attestation/eligibility.ts";

/** The jobs that a worker accepts. */
export type WorkerPolicy = {
  /** Minimum payment above a job's gas cost (`coveringFee`), in the smallest unit of the stake asset. */
  minFee: bigint;
  /** Spare seconds between an execution's expected end and the claim's end. */
  marginSeconds: number;
  /** Maximum gas of a requester's callback: whoever delivers pays it, for each output. `MAX_CALLBACK_GAS` if absent. */
  maxCallbackGas?: number;
  /**
   * Maximum number of own claims neither final nor refuted: all these claims can be disputed at once. Default
   * `MAX_OPEN_CLAIMS`.
   */
  maxOpenClaims?: number;
  /**
   * Maximum time until a sealed submission can be opened, seconds: an absent worker then loses the whole collateral. 0
   * forbids sealing. Default `MAX_SEAL_SECONDS`.
   */
  maxSealSeconds?: number;
  /**
   * Maximum collateral that one claim may lock, in the smallest unit of the stake asset: a job's terms may ask for any
   * amount, for the whole window, and for a small fee. Without a maximum if absent.
   */
  maxCollateral?: bigint;
};

/** A day: stake is locked meanwhile, for one fee. */
export const MAX_SEAL_SECONDS = 86_400;

/**
 * Enough gas for a consumer that stores a few result words. The worker would pay if a requester's callback burns more.
 */
export const MAX_CALLBACK_GAS = 500_000;

/**
 * A game needs an execution of the job, and another execution for the range entered. Each execution may wait for every
 * other claim's execution, for the claimed job's execution, and for a published tensor's execution: 2 (8 + 2) = 20
 * executions in a clock of at least an hour, 180 s each.
 */
export const MAX_OPEN_CLAIMS = 8;

/** Returns true if one more claim may be open besides `open` others. */
export const hasRoom = ({ maxOpenClaims = MAX_OPEN_CLAIMS }: WorkerPolicy, open: number): boolean =>
  open < maxOpenClaims;

/** Whether submissions of a job are sealed, to be opened later. */
export const isSealed = ({ terms }: Pick<JobRecord, "terms">): boolean => (terms?.openFrom ?? 0) !== 0;

/** Reasons for not claiming a job: taken, or impossible terms; too low a fee; no input. */
export type JobRefusal = "terms" | "fee" | "input";

/**
 * Returns the reason why a job with a known program is not worth claiming. The input check comes last, because the
 * input is hashed once.
 * @param cost The fee that covers the job's gas.
 * @param rate Units of work per second in the deployment.
 * @param isAtHand Returns true if the job's whole input is available.
 * @returns undefined for an open, paid job with all inputs available and enough time left.
 */
export function refusalOf(
  record: JobRecord,
  cost: bigint,
  policy: WorkerPolicy,
  rate: bigint,
  now: bigint,
  isAtHand: (record: JobRecord) => boolean = hasInputs,
): JobRefusal | undefined {
  const { fee, claimSeconds, deadline, work, callbackGas } = record.job;
  const needed = workSeconds(work, rate) + policy.marginSeconds;
  const fits =
    record.open &&
    (!isSealed(record) || opensSoon(record, policy, now)) &&
    callbackGas <= (policy.maxCallbackGas ?? MAX_CALLBACK_GAS) &&
    locksLittle(record, policy) &&
    claimSeconds >= needed &&
    now + BigInt(claimSeconds) < deadline;
  if (!fits) return "terms";
  if (fee < cost + policy.minFee) return "fee";
  return isAtHand(record) ? undefined : "input";
}

/** Returns true if a claim locks no more than the policy allows. Jobs without terms lock what the deployment asks. */
const locksLittle = ({ terms }: Pick<JobRecord, "terms">, { maxCollateral }: WorkerPolicy): boolean =>
  terms === undefined || maxCollateral === undefined || terms.collateral <= maxCollateral;

/** Returns true if the worker can open the seal within the time for which the stake stays locked. */
const opensSoon = (
  { terms }: Pick<JobRecord, "terms">,
  { maxSealSeconds = MAX_SEAL_SECONDS }: WorkerPolicy,
  now: bigint,
): boolean => BigInt(terms!.openFrom) <= now + BigInt(maxSealSeconds);

/**
 * Returns the reason why the worker may not claim: no attestation, or too little stake.
 * @param collateral The amount that the claim would lock.
 * @returns undefined if the worker may claim.
 */
export async function claimProblem(
  { sender, vault, provisioning }: Session,
  collateral: bigint,
): Promise<Problem | undefined> {
  const [eligibility, { staked, locked }] = await Promise.all([
    provisioning.eligibilityOf(sender.address),
    vault.accountOf(sender.address),
  ]);
  const why = ineligibility(eligibility);
  if (why !== undefined) return { reason: `not attested: ${why}` };
  if (staked - locked >= collateral) return undefined;
  const [has, free, needs] = [staked, staked - locked, collateral].map((amount) => formatEther(amount));
  return { reason: `of the stake of ${has}, ${free} is free, and a claim locks ${needs}: run refute account stake` };
}
