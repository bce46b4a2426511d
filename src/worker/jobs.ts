import type { Executions } from "../player/executions.ts";
import { inputBytesOf, type ClaimRecord, type JobRecord } from "../market/history.ts";
import type { Session } from "../market/session.ts";

/** What a worker takes. */
export type WorkerPolicy = {
  /** Minimum fee, in the smallest unit of the stake asset. */
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
};

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
export const isOpen = ({ finalised, refuted }: Pick<ClaimRecord, "finalised" | "refuted">): boolean =>
  !finalised && !refuted;

/** Whether one more claim may be open beside `open` others. */
export const hasRoom = ({ maxOpenClaims = MAX_OPEN_CLAIMS }: WorkerPolicy, open: number): boolean =>
  open < maxOpenClaims;

/**
 * Whether a job is worth claiming: open, of a known program, with all its input at hand, paid, and with time left.
 * Pure.
 */
export function isSuitable(
  record: JobRecord,
  executions: Pick<Executions, "knows">,
  policy: WorkerPolicy,
  rate: bigint,
  now: bigint,
): boolean {
  const { fee, claimSeconds, deadline, work, callbackGas } = record.job;
  // `rate` is the slowest that the deployment allows for: every element by the exact fallback.
  const needed = work / rate + BigInt(policy.marginSeconds);
  return (
    record.open &&
    executions.knows(record) &&
    fee >= policy.minFee &&
    callbackGas <= (policy.maxCallbackGas ?? MAX_CALLBACK_GAS) &&
    BigInt(claimSeconds) >= needed &&
    now + BigInt(claimSeconds) < deadline &&
    inputBytesOf(record) !== undefined
  );
}

/** Whether the worker may claim: its attestation is live and it has unlocked stake for the collateral. */
export async function mayClaim({ sender, deployment, vault, provisioning }: Session): Promise<boolean> {
  const [isLive, { staked, locked }] = await Promise.all([
    provisioning.isLive(sender.address),
    vault.accountOf(sender.address),
  ]);
  return isLive && staked - locked >= deployment.parameters.collateral;
}
