import { RefuteError } from "../errors.ts";

/** A job that ended without a result: cancelled, or expired with its fee returned. */
export class JobClosedError extends RefuteError {
  readonly code = "JOB_CLOSED";
}

/** No job of this id on this market. */
export class JobUnknownError extends RefuteError {
  readonly code = "JOB_UNKNOWN";
}

/** Input tensors that do not fit the program. */
export class JobInputError extends RefuteError {
  readonly code = "JOB_INPUT";
}
