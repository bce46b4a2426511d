import type { Hex } from "viem";
import { errorWithCode, RefuteError } from "../../base/errors.ts";

/** A job that ended without its outputs: cancelled, expired or not delivered, with its fee returned. */
export class JobClosedError extends errorWithCode("JOB_CLOSED") {}

/** A job that is posted and paid for, whose input could not be published. */
export class JobIncompleteError extends errorWithCode("JOB_INCOMPLETE") {}

/**
 * Not all blobs of a job's inputs are on the chain. `transactions` are those with the first blobs that are: they are
 * paid for, and need not be sent again.
 */
export class BlobsIncompleteError extends RefuteError {
  readonly code = "BLOBS_INCOMPLETE";
  override readonly retryable = true;

  constructor(
    readonly transactions: readonly Hex[],
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** A transaction that should have the blobs of a job's inputs has others, or none. */
export class WrongBlobsError extends errorWithCode("WRONG_BLOBS") {}

/** No job of this id on this market. */
export class JobUnknownError extends errorWithCode("JOB_UNKNOWN") {}

/** No panel of this id. */
export class PanelUnknownError extends errorWithCode("PANEL_UNKNOWN") {}

/** A program that the deployment takes no jobs of. */
export class JobProgramError extends errorWithCode("JOB_PROGRAM") {}

/** Terms of a job that no market takes. */
export class JobTermsError extends errorWithCode("JOB_TERMS") {}

/** Input tensors that do not fit the program. */
export class JobInputError extends errorWithCode("JOB_INPUT") {}

/** A fee of nothing, given so or rounded to it. */
export class FeeTooLowError extends errorWithCode("FEE_TOO_LOW") {}

/** A program's description that is not one, or not of the program that its root names. */
export class DescriptionError extends errorWithCode("PROGRAM_DESCRIPTION") {}

/** Outputs that are not those of the program. */
export class OutputError extends errorWithCode("OUTPUT") {}

/** Nobody served the output of an item, or what was served is not part of the claim. */
export class ItemOutputError extends errorWithCode("ITEM_OUTPUT") {}
