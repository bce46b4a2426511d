import type { Hex } from "viem";
import type { Reader } from "../market/session.ts";
import { toHex } from "../merkle/hash.ts";
import { withoutPaths } from "../redact.ts";
import type { OutageOptions } from "../sdk/outages.ts";
import { waitForResult, type JobResult } from "../sdk/result.ts";
import { InterruptedError } from "./errors.ts";
import { print, printError } from "./output.ts";
import { stopSignal } from "./stop.ts";

/** Says on stderr when no node answers, and when one answers again. */
export const sayOutage: NonNullable<OutageOptions["onOutage"]> = (error) =>
  printError(
    error === undefined
      ? "a node answers again"
      : `no node answers (${withoutPaths(error.message)}); the job goes on without this command, which waits`,
  );

/**
 * Waits for a job's result, through outages, and says on stderr how far it is. Ctrl-C ends the wait and prints the
 * command that resumes it.
 * @param signal Of the same Ctrl-C, if somebody listens to it already.
 * @throws InterruptedError, JobClosedError, JobUnknownError
 */
export async function waitOnTerminal(
  session: Reader,
  jobId: Hex,
  { isPosted, signal = waitSignal(jobId) }: { isPosted: boolean; signal?: AbortSignal },
): Promise<JobResult> {
  try {
    const onPhase = (phase: string): void => printError(phase);
    return await waitForResult(session, jobId, { isPosted, signal, onPhase, onOutage: sayOutage });
  } catch (error) {
    throw interrupted(signal, error);
  }
}

/** The signal that ends a wait at Ctrl-C. */
export const waitSignal = (jobId: Hex): AbortSignal =>
  stopSignal(() => printError(`the job goes on. To wait again: refute result ${jobId} --wait`));

/** What is thrown for an error of a wait: a wait that was ended has failed for no other reason. */
export const interrupted = (signal: AbortSignal, error: unknown): unknown =>
  signal.aborted ? new InterruptedError("stopped before the result was there", { cause: error }) : error;

/** Prints a result. @param nameOf The name of an output, by its number. */
export function printResult({ worker, outputs }: JobResult, nameOf: (output: number) => string): void {
  print(`finalised, by ${worker}`);
  printOutputs(outputs, nameOf);
}

/** Prints outputs, a line each: name and bytes in hexadecimal. */
export function printOutputs(outputs: ReadonlyMap<number, Uint8Array>, nameOf: (output: number) => string): void {
  for (const [output, bytes] of outputs) print(`${nameOf(output)} ${toHex(bytes)}`);
}
