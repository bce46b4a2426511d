import { RefuteError } from "../errors.ts";
import { withoutPaths } from "../redact.ts";
import { stackLines } from "../text.ts";
import { printError } from "./output.ts";

/**
 * Writes one clear line to stderr, and of an error that nobody expected also where it was thrown.
 * @returns The exit status.
 */
export function reportError(error: unknown): number {
  printError(linesOf(error));
  return 1;
}

function linesOf(error: unknown): string[] {
  if (error instanceof RefuteError) return [`refute: ${withoutPaths(error.message)} [${error.code}]`];
  const first = `refute: unexpected: ${withoutPaths(String(error))}`;
  return error instanceof Error ? [first, ...stackLines(error).map(withoutPaths)] : [first];
}
