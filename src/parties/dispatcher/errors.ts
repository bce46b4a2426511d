import { errorWithCode } from "../../base/errors.ts";

/** Inputs, parts or settings of a batch that do not fit each other or the program. */
export class DispatchInputError extends errorWithCode("DISPATCH_INPUT") {}

/** A budget that does not pay for a batch. */
export class DispatchBudgetError extends errorWithCode("DISPATCH_BUDGET") {}

/** A state file of another batch, account or market. */
export class DispatchStateError extends errorWithCode("DISPATCH_STATE") {}

/** The outputs of a batch cannot be written to a file. */
export class DispatchOutputError extends errorWithCode("DISPATCH_OUTPUT") {}

/** A part that begins with another state than the part before ends with. */
export class DispatchJoinError extends errorWithCode("DISPATCH_JOIN") {}

/** Parts that no worker computed within the allowed attempts. */
export class DispatchUnfinishedError extends errorWithCode("DISPATCH_UNFINISHED") {}
