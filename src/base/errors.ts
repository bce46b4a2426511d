/**
 * The base of all errors that Refute defines: each has a stable code, and a message that names the input and what to
 * do.
 */
export abstract class RefuteError extends Error {
  /** Stable, machine-readable name, e.g. `MODEL_TRUNCATED`. */
  abstract readonly code: string;
  /** Whether the same call may succeed later without the user changing anything (an RPC outage, say). */
  readonly retryable: boolean = false;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** Returns a base class for errors with a code and no other additional fields. */
export function errorWithCode<Code extends string>(code: Code, { retryable = false } = {}) {
  return class extends RefuteError {
    override readonly code = code;
    override readonly retryable = retryable;
  };
}
