import { RefuteError } from "../errors.ts";

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
