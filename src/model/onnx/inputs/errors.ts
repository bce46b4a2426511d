import { RefuteError } from "../../../base/errors.ts";

/** A file given as an input tensor is not a tensor, or does not match the model's input. */
export class InputFileError extends RefuteError {
  readonly code = "INPUT_FILE";
  constructor(path: string, what: string, options?: ErrorOptions) {
    super(`${path}: ${what}`, options);
  }
}
