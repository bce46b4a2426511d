import { errorWithCode } from "../errors.ts";

/** A claim that exact execution does not confirm: it is lost once it is disputed, whatever this worker does. */
export class WrongClaimError extends errorWithCode("WRONG_CLAIM") {}

/** A dispute that this worker cannot answer as it is configured: its collateral is at stake. */
export class UndefendedClaimError extends errorWithCode("UNDEFENDED_CLAIM") {}

/** Why a claim or a job cannot be executed here. */
export const UNKNOWN =
  "its program is not among the models served here, or not compiled yet, or its input is not on chain";
