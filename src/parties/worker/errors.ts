import { BaseError } from "viem";
import { errorWithCode } from "../../base/errors.ts";

/** A claim that exact execution does not confirm: it is lost once it is disputed, whatever this worker does. */
export class WrongClaimError extends errorWithCode("WRONG_CLAIM") {}

/** A dispute that this worker cannot answer as it is configured: its collateral is at stake. */
export class UndefendedClaimError extends errorWithCode("UNDEFENDED_CLAIM") {}

/** Why a claim or a job cannot be executed here. */
export const UNKNOWN =
  "its program is not among the models served here, or not compiled yet, or its input is not on chain";

/** What an error says, without the arguments of the call: these hold the whole output. */
export const shortMessage = (error: Error): string =>
  error instanceof BaseError ? `${error.shortMessage} ${error.details}` : error.message;
