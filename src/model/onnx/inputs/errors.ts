import { RefuteError } from "../../../base/errors.ts";

/** A file given as an input tensor that is not one, or not the one that the model takes. */
export class InputFileError extends RefuteError {
  readonly code = "INPUT_FILE";
  constructor(path: string, what: string, options?: ErrorOptions) {
    super(`${path}: ${what}`, options);
  }
}
