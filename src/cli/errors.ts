import { RefuteError } from "../errors.ts";

/** A flag, environment variable, config file or input file that cannot be used as it is. */
export class UsageError extends RefuteError {
  readonly code = "USAGE";
}

/** A key that is missing, or a keystore that does not open. */
export class KeyError extends RefuteError {
  readonly code = "KEY";
}

/** A file given as an input tensor that is not one, or not the one that the model takes. */
export class InputFileError extends RefuteError {
  readonly code = "INPUT_FILE";
  constructor(path: string, what: string, options?: ErrorOptions) {
    super(`${path}: ${what}`, options);
  }
}

/** A command did its work, and the answer is no: the exit status says so. */
export class NegativeVerdict extends RefuteError {
  readonly code = "VERDICT";
}
