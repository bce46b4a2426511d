import type { Hex } from "viem";
import { withoutPaths } from "../base/redact.ts";
import { throughOutages, type OutageOptions } from "../parties/requester/outages.ts";
import { waitForResult, type JobResult } from "../parties/requester/result.ts";
import { outputLines, type Presentation } from "./decoded.ts";
import { InterruptedError } from "./errors.ts";
import { commandText } from "./nextCommand.ts";
import type { Output } from "./output.ts";
import { untilStopped } from "./stop.ts";
import type { Reader } from "../chain/market/reader.ts";

/** Says when no node or signer answers, and when one answers again. */
export const logOutage =
  (output: Output): NonNullable<OutageOptions["onOutage"]> =>
  (error) =>
    output.note(
      error === undefined
        ? "there is an answer again"
        : `no answer (${withoutPaths(error.message)}); the job goes on without this command, which waits`,
    );

/** How long is waited after the first try without a node, milliseconds. */
const CONNECT_PAUSE_MS = 4_000;

/**
 * Waits for a job's result, through outages, and says on stderr how far it is. Ctrl-C ends the wait; the error
 * names the command that resumes it.
 * @param open Connects to the chain.
 * @param isPosted The job was posted: a node that does not know it lags.
 * @param flags How the outputs are read, for that command: `--model FILE` and so on.
 * @param keys Hashes of keys whose proofs are taken in the place of a final claim.
 * @throws InterruptedError, JobClosedError, JobUnknownError
 */
export function waitOnTerminal(
  output: Output,
  jobId: Hex,
  isPosted: boolean,
  open: () => Promise<Reader>,
  flags: readonly string[] = [],
  keys: readonly Hex[] = [],
): Promise<JobResult> {
  const onStop = (): void => output.note("stops waiting; once more to stop at once");
  let stopCounting = (): void => {};
  const onPhase = (phase: string, until?: bigint): void => {
    stopCounting();
    output.note(phase);
    if (until !== undefined) stopCounting = output.countdown("the window ends in", until);
  };
  return untilStopped(onStop, async (signal) => {
    try {
      const options = { signal, onOutage: logOutage(output) };
      const reader = await throughOutages(open, { ...options, intervalMs: CONNECT_PAUSE_MS });
      return await waitForResult(reader, jobId, { ...options, isPosted, keys, onPhase });
    } catch (error) {
      // A wait that was ended has failed for no other reason.
      if (!signal.aborted) throw error;
      const resume = commandText([
        "result",
        jobId,
        "--wait",
        ...flags,
        ...(keys.length > 0 ? ["--proof-keys", keys.join()] : []),
      ]);
      throw new InterruptedError(`stopped before the result was there; the job goes on. To wait again: ${resume}`, {
        cause: error,
      });
    } finally {
      stopCounting();
    }
  });
}

/** A result for people. */
export const resultLines = (result: JobResult, shown: Presentation): string[] => [
  result.provenBy === undefined
    ? `finalised, by ${result.worker}`
    : `proven under the key ${result.provenBy}, by ${result.worker}`,
  ...outputLines(result.outputs, shown),
  ...absenceLines(result),
];

/** Says where missing outputs of a final result are, or how to fetch them. */
export const absenceLines = ({ items, outputs, callbacks }: Pick<JobResult, "items" | "outputs" | "callbacks">) => [
  ...(outputs.size > 0
    ? []
    : [
        `no output is on the chain: those of its ${items} ${items === 1 ? "item" : "items"} are with the worker ` +
          "(refute result JOB --item 0 --from URL, where the worker has --publish-port)",
      ]),
  ...(callbacks.failed.length === 0
    ? []
    : [
        `the requester's contract did not take output ${callbacks.failed.join(", ")}: its callback failed ` +
          "(refute job redeliver JOB calls it again)",
      ]),
];
