import type { Hex } from "viem";
import type { Reader } from "../market/session.ts";
import { toHex } from "../merkle/hash.ts";
import { withoutPaths } from "../redact.ts";
import { throughOutages, type OutageOptions } from "../sdk/outages.ts";
import { waitForResult, type JobResult } from "../sdk/result.ts";
import { InterruptedError } from "./errors.ts";
import { print, printError } from "./output.ts";
import { untilStopped } from "./stop.ts";

/** Says on stderr when no node answers, and when one answers again. */
const sayOutage: NonNullable<OutageOptions["onOutage"]> = (error) =>
  printError(
    error === undefined
      ? "a node answers again"
      : `no node answers (${withoutPaths(error.message)}); the job goes on without this command, which waits`,
  );

/** How long is waited after the first try without a node, milliseconds. */
const CONNECT_PAUSE_MS = 4_000;

/**
 * Waits for a job's result, through outages, and says on stderr how far it is. Ctrl-C ends the wait and prints the
 * command that resumes it.
 * @param open Connects to the chain.
 * @param isPosted The job was posted: a node that does not know it lags.
 * @throws InterruptedError, JobClosedError, JobUnknownError
 */
export function waitOnTerminal(jobId: Hex, isPosted: boolean, open: () => Promise<Reader>): Promise<JobResult> {
  const onStop = (): void => printError(`the job goes on. To wait again: refute result ${jobId} --wait`);
  const onPhase = (phase: string): void => printError(phase);
  return untilStopped(onStop, async (signal) => {
    try {
      const options = { signal, onOutage: sayOutage };
      const reader = await throughOutages(open, { ...options, intervalMs: CONNECT_PAUSE_MS });
      return await waitForResult(reader, jobId, { ...options, isPosted, onPhase });
    } catch (error) {
      // A wait that was ended has failed for no other reason.
      throw signal.aborted ? new InterruptedError("stopped before the result was there", { cause: error }) : error;
    }
  });
}

/** Prints a result. @param nameOf The name of an output, by its number. */
export function printResult({ worker, outputs }: JobResult, nameOf: (output: number) => string): void {
  print(`finalised, by ${worker}`);
  printOutputs(outputs, nameOf);
}

/** Prints outputs, a line each: name and bytes in hexadecimal. */
export function printOutputs(outputs: ReadonlyMap<number, Uint8Array>, nameOf: (output: number) => string): void {
  for (const [output, bytes] of outputs) print(`${nameOf(output)} ${toHex(bytes)}`);
}
