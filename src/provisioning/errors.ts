import { errorWithCode, RefuteError } from "../errors.ts";

/**
 * A stand-in's file that cannot be read, is not what it should be, or would be overwritten. It never shows what the
 * file holds.
 */
export class StandInFileError extends RefuteError {
  readonly code = "STAND_IN_FILE";
  constructor(path: string, what: string, options?: ErrorOptions) {
    super(`${path}: ${what}`, options);
  }
}

/** A field of a report, an endorsement or a statement that does not fit its place. */
export class ReportFieldError extends errorWithCode("REPORT_FIELD") {}
