import { RefuteError } from "../errors.ts";
import { withoutPaths } from "../redact.ts";

/**
 * Writes one clear line to stderr, or the stack of an error that nobody expected.
 * @returns The exit status.
 */
export function reportError(error: unknown): number {
  if (error instanceof RefuteError) console.error(`refute: ${withoutPaths(error.message)} [${error.code}]`);
  else console.error(`refute: unexpected: ${withoutPaths((error as Error).stack ?? String(error))}`);
  return 1;
}
