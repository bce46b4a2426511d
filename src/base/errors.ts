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

/**
 * Returns a base class for errors with a code and no other additional fields. The type is written out, because the
 * inferred type names Node's additions to errors, and declarations for browsers must do without Node.
 */
export function errorWithCode<Code extends string>(
  code: Code,
  { retryable = false } = {},
): new (message: string, options?: ErrorOptions) => RefuteError & { readonly code: Code } {
  return class extends RefuteError {
    override readonly code = code;
    override readonly retryable = retryable;
  };
}
