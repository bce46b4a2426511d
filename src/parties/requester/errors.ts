import type { Hex } from "viem";
import type { Job } from "../../chain/structs.ts";
import { errorWithCode, RefuteError } from "../../base/errors.ts";

/** A job that ended without its outputs: cancelled, expired or not delivered, with its fee returned. */
export class JobClosedError extends errorWithCode("JOB_CLOSED") {}

/**
 * A job that gets no result any more, although its fee has not gone back: no worker can claim the job before its
 * deadline. Cancel it, or expire it.
 */
export class JobUntakenError extends errorWithCode("JOB_UNTAKEN") {}

/** A job without a callback that can be repeated. */
export class RedeliveryError extends errorWithCode("REDELIVERY") {}

/** A posted and paid job whose input could not be published. */
export class JobIncompleteError extends RefuteError {
  readonly code = "JOB_INCOMPLETE";
  readonly job: Job;

  constructor(job: Job, message: string, options?: ErrorOptions) {
    super(message, options);
    this.job = job;
  }
}

/**
 * Some blobs of a job's inputs are missing on the chain. `transactions` lists the transactions with the first blobs
 * already on chain: these are paid, and need not be sent again.
 */
export class BlobsIncompleteError extends RefuteError {
  readonly code = "BLOBS_INCOMPLETE";
  override readonly retryable = true;
  readonly transactions: readonly Hex[];

  constructor(transactions: readonly Hex[], message: string, options?: ErrorOptions) {
    super(message, options);
    this.transactions = transactions;
  }
}

/** A transaction that should have the blobs of a job's inputs has others, or none. */
export class WrongBlobsError extends errorWithCode("WRONG_BLOBS") {}

/** No job of this id on this market. */
export class JobUnknownError extends errorWithCode("JOB_UNKNOWN") {}

/** No panel of this id. */
export class PanelUnknownError extends errorWithCode("PANEL_UNKNOWN") {}

/** A program for which the deployment accepts no jobs. */
export class JobProgramError extends errorWithCode("JOB_PROGRAM") {}

/** Terms of a job that no market takes. */
export class JobTermsError extends errorWithCode("JOB_TERMS") {}

/** Input tensors that do not fit the program. */
export class JobInputError extends errorWithCode("JOB_INPUT") {}

/** A fee of zero, given or after rounding. */
export class FeeTooLowError extends errorWithCode("FEE_TOO_LOW") {}

/** A malformed program description, or a description that does not match the named root. */
export class DescriptionError extends errorWithCode("PROGRAM_DESCRIPTION") {}

/** Outputs that are not those of the program. */
export class OutputError extends errorWithCode("OUTPUT") {}

/** No server returned an item's output, or the served output does not belong to the claim. */
export class ItemOutputError extends errorWithCode("ITEM_OUTPUT") {}
