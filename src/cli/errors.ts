import { RefuteError } from "../errors.ts";

/** A flag, environment variable, config file or input file that cannot be used as it is. */
export class UsageError extends RefuteError {
  readonly code = "USAGE";
}

/** A key that is missing, or a keystore that does not open. */
export class KeyError extends RefuteError {
  readonly code = "KEY";
}
