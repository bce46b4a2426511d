import { BaseError } from "viem";
import { errorWithCode } from "../../base/errors.ts";

/** A claim that exact execution contradicts: the claim is lost once disputed, whatever the worker does. */
export class WrongClaimError extends errorWithCode("WRONG_CLAIM") {}

/** A dispute that the worker cannot answer with the current configuration: collateral is at stake. */
export class UndefendedClaimError extends errorWithCode("UNDEFENDED_CLAIM") {}

/** Why a claim or a job cannot be executed here. */
export const UNKNOWN =
  "its program is not among the models served here, or not compiled yet, or its input is not on chain";

/** Returns an error's message without the call's arguments, which contain the whole output. */
export const shortMessage = (error: Error): string =>
  error instanceof BaseError ? `${error.shortMessage} ${error.details}` : error.message;
