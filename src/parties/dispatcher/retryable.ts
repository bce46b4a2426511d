import { ContractRevertError, ShortOfFundsError, TransactionRevertedError } from "../../chain/errors.ts";
import { RefuteError } from "../../base/errors.ts";

/** Errors from the market when another transaction came first. */
const RACES = new Set([
  ...["JobExists", "DeadlineTooSoon", "InsufficientCredit", "WrongJobStatus", "WrongClaimStatus"],
  ...["TimeNotUp", "GamesOpen", "WindowOpen", "PartAlreadyPublished"],
]);

/** Whether a transaction about a part failed with something that a later look at the chain sorts out. */
export function mayPass(error: unknown): boolean {
  if (error instanceof TransactionRevertedError) return true;
  // The vault refuses a fee.
  if (error instanceof ShortOfFundsError) return mayPass(error.cause);
  if (error instanceof ContractRevertError) return RACES.has(error.errorName);
  return error instanceof RefuteError && (error.retryable || error.code === "JOB_INCOMPLETE");
}
