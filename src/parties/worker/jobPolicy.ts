import { formatEther } from "viem";
import { workSeconds } from "../../chain/market/clock.ts";
import type { ClaimRecord, JobRecord } from "../../chain/market/history.ts";
import { hasInputs } from "../../chain/market/jobInputs.ts";
import type { Session } from "../../chain/market/session.ts";
import type { Problem } from "../../base/health.ts";
import { ineligibility } from "../../attestation/eligibility.ts";

/** What a worker takes. */
export type WorkerPolicy = {
  /** What a job must pay above what its gas costs (`coveringFee`), in the smallest unit of the stake asset. */
  minFee: bigint;
  /** Seconds that are kept between the expected end of an execution and the end of the claim. */
  marginSeconds: number;
  /** Maximum gas of a requester's callback: whoever delivers pays it, for each output. `MAX_CALLBACK_GAS` if absent. */
  maxCallbackGas?: number;
  /**
   * Maximum number of own claims that are neither final nor refuted: all of them can be disputed at once.
   * `MAX_OPEN_CLAIMS` if absent.
   */
  maxOpenClaims?: number;
  /**
   * The longest until a sealed submission can be opened, seconds: who is not there then loses the whole collateral. 0:
   * none is sealed. `MAX_SEAL_SECONDS` if absent.
   */
  maxSealSeconds?: number;
};

/** A day: stake is locked meanwhile, for one fee. */
export const MAX_SEAL_SECONDS = 86_400;

/**
 * Enough for a consumer that stores some words of a result. A worker would pay for the callback of a requester that
 * burns more.
 */
export const MAX_CALLBACK_GAS = 500_000;

/**
 * A game takes an execution of its job and one for the range that it enters. Each of these may wait for one execution
 * of every other claim, one of the job that is claimed, and one for a tensor that is published: 2 (8 + 2) = 20
 * executions in a clock of at least an hour, 180 s each.
 */
export const MAX_OPEN_CLAIMS = 8;

/** Whether a claim can be disputed, or becomes final only by a transaction that was not sent yet. */
export const isOpen = ({
  finalised,
  refuted,
  accepted,
}: Pick<ClaimRecord, "finalised" | "refuted" | "accepted">): boolean => !finalised && !refuted && !accepted;

/** Whether one more claim may be open beside `open` others. */
export const hasRoom = ({ maxOpenClaims = MAX_OPEN_CLAIMS }: WorkerPolicy, open: number): boolean =>
  open < maxOpenClaims;

/** Whether submissions of a job are sealed, to be opened later. */
export const isSealed = ({ terms }: Pick<JobRecord, "terms">): boolean => (terms?.openFrom ?? 0) !== 0;

/** Why a worker does not claim a job: it is taken, or has terms that it cannot keep; it pays too little; no input. */
export type JobRefusal = "terms" | "fee" | "input";

/**
 * Why a job of a known program is not worth claiming. The input, which is hashed once, is looked at last.
 * @param cost The fee that covers its gas.
 * @param rate Units of work a second, of the deployment.
 * @param isAtHand Whether the job's input is all there.
 * @returns undefined for a job that is open, with all its input at hand, paid, and with time left.
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
    claimSeconds >= needed &&
    now + BigInt(claimSeconds) < deadline;
  if (!fits) return "terms";
  if (fee < cost + policy.minFee) return "fee";
  return isAtHand(record) ? undefined : "input";
}

/** Whether what is sealed can be opened within the time for which a worker locks its stake. */
const opensSoon = (
  { terms }: Pick<JobRecord, "terms">,
  { maxSealSeconds = MAX_SEAL_SECONDS }: WorkerPolicy,
  now: bigint,
): boolean => BigInt(terms!.openFrom) <= now + BigInt(maxSealSeconds);

/**
 * Why the worker may not claim: it is not attested, or has too little stake.
 * @param collateral What the claim would lock.
 * @returns undefined if it may.
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
  return { reason: `of the stake of ${has}, ${free} is free, and a claim locks ${needs}: run refute stake` };
}
