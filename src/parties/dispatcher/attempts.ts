import { partSalt, type Batch, type BatchPart } from "./batch.ts";
import type { DispatchTerms } from "./options.ts";
import type { Attempt } from "./store.ts";

/** Whether a worker could still take an attempt's job in time. @param now The chain's time, unix seconds. */
export const isInTime = ({ terms }: Attempt, now: bigint): boolean => now + BigInt(terms.claimSeconds) < terms.deadline;

/**
 * Returns the next attempt at a part. @param last The part's latest attempt. @param now The chain's time, unix seconds.
 */
export function nextAttempt(
  { id }: Pick<Batch, "id">,
  part: BatchPart,
  { window, claimSeconds, answer, deadlineSeconds }: DispatchTerms,
  { last, fee, now }: { last: Attempt | undefined; fee: bigint; now: bigint },
): Attempt {
  const attempt = (last?.attempt ?? -1) + 1;
  const { items, firstItem, number } = part;
  const deadline = now + BigInt(deadlineSeconds);
  const terms = { items, firstItem, fee, window, claimSeconds, answer, deadline, salt: partSalt(id, part, attempt) };
  return { part: number, attempt, terms, refund: undefined };
}
