import { formatEther } from "viem";
import { DispatchBudgetError, DispatchUnfinishedError } from "./errors.ts";
import type { DispatchOptions } from "./options.ts";

/**
 * Checks progress when no work is under way.
 * @param done Parts with complete local outputs.
 * @param failed Parts that have had all their attempts.
 * @param committed The spent or promised part of the budget, in the smallest unit of the stake asset.
 * @throws DispatchUnfinishedError or DispatchBudgetError if parts remain: none of the remaining parts can begin
 */
export function requireProgress(
  { batch, terms, maxAttempts }: DispatchOptions,
  done: ReadonlySet<number>,
  failed: ReadonlySet<number>,
  committed: bigint,
): void {
  const left = batch.parts.filter(({ number }) => !done.has(number));
  if (left.length === 0) return;
  // A chain's later parts wait for the failed part.
  if (batch.isChained ? failed.size > 0 : left.every(({ number }) => failed.has(number)))
    throw new DispatchUnfinishedError(
      `no worker computed ${left.length} of ${batch.parts.length} parts in ${maxAttempts} attempts each: give a ` +
        "higher fee (--max-fee) or more attempts (--attempts), and run this again; what is done stays done",
    );
  throw new DispatchBudgetError(
    `${formatEther(committed)} of the budget ${formatEther(terms.budget)} is spent, and ${left.length} of ` +
      `${batch.parts.length} parts are left: give a higher budget (--budget) and run this again; what is done stays ` +
      "done",
  );
}
