import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../../base/log.ts";
import { translateError } from "../../chain/translateError.ts";
import { RefuteError } from "../../base/errors.ts";
import { withoutPaths } from "../../base/redact.ts";
import { stackLines } from "../../base/text.ts";

/** How a long-running loop runs. */
export type LoopOptions = {
  /** Ends the loop after the running round. */
  signal: AbortSignal;
  /** Pause between rounds. */
  intervalMs: number;
  log: Logger;
  /** Called after each round, also with the error of a failed one. */
  onRound?: (outcome: "done" | "failed", error?: unknown) => void;
};

/**
 * The longest pause after failures in a row, unless rounds are further apart anyhow. A round that finds no node makes
 * few requests, and a game's clock may be running: of 90 seconds, an outage of a minute leaves 30.
 */
const MAX_BACKOFF_MS = 1_000;

/**
 * Runs rounds until the signal. A failing round is logged and tried again, ever more slowly: a loop that guards money
 * does not end because a node is down, and the next round reads everything back from the chain.
 */
export async function runLoop(
  { signal, intervalMs, log, onRound }: LoopOptions,
  round: () => Promise<void>,
): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    try {
      await round();
      failures = 0;
      onRound?.("done");
    } catch (error) {
      failures++;
      logError(log, error);
      onRound?.("failed", error);
    }
    const pause = Math.min(intervalMs * 2 ** Math.min(failures, 10), Math.max(intervalMs, MAX_BACKOFF_MS));
    await sleep(pause, undefined, { signal }).catch(() => undefined);
  }
}

/** Logs an error of a round: passing errors as warnings, other errors with a stack trace. */
export function logError(log: Logger, thrown: unknown, doing = "round"): void {
  const error = translateError(thrown, doing);
  if (error instanceof RefuteError) {
    const fields = { code: error.code, reason: withoutPaths(error.message) };
    if (error.retryable) log.warn(fields, `${doing} failed, trying again`);
    else log.error(fields, `${doing} failed`);
  } else {
    const { message, at } =
      error instanceof Error ? { message: error.message, at: stackLines(error) } : { message: String(error), at: [] };
    const stack = at.map((line) => withoutPaths(line.trim()));
    log.error({ reason: withoutPaths(message), stack }, `${doing} failed unexpectedly`);
  }
}
