import { RefuteError } from "../errors.ts";

/** A flag, environment variable, config file or input file that cannot be used as it is. */
export class UsageError extends RefuteError {
  readonly code = "USAGE";
}

/** A key that is missing, or a keystore that does not open. */
export class KeyError extends RefuteError {
  readonly code = "KEY";
}

/** The account has too little of what the command moves: tokens, credit or stake. */
export class ShortOfFundsError extends RefuteError {
  readonly code = "SHORT_OF_FUNDS";
}

/** The account has no live attestation, without which it may not stake. */
export class NotAttestedError extends RefuteError {
  readonly code = "NOT_ATTESTED";
}

/** Stake that is asked back is not ready yet. */
export class NotReadyError extends RefuteError {
  readonly code = "NOT_READY";
  override readonly retryable = true;
}

/** A command did its work, and the answer is no: the exit status says so. */
export class NegativeVerdict extends RefuteError {
  readonly code = "VERDICT";
}
