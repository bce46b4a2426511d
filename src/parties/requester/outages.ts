import { RpcUnavailableError } from "../../chain/errors.ts";
import { pause } from "../../chain/pause.ts";
import { translateError } from "../../chain/translateError.ts";

/** How an outage is waited out. */
export type OutageOptions = {
  signal?: AbortSignal;
  /** Pause after the first failure, milliseconds; it doubles up to the maximum. */
  intervalMs: number;
  /** Called when no node answers, and with undefined when one answers again. */
  onOutage?: (error: RpcUnavailableError | undefined) => void;
};

/** The longest pause between two tries: the nodes' own requests are repeated in each. */
const MAX_PAUSE_MS = 15_000;

/**
 * Runs an action, and repeats the action while no node answers.
 * @param action May run any number of times.
 * @throws any other error, or the signal's reason
 */
export async function throughOutages<T>(
  action: () => Promise<T>,
  { signal, intervalMs, onOutage }: OutageOptions,
): Promise<T> {
  for (let failures = 0; ; failures++) {
    signal?.throwIfAborted();
    try {
      const result = await action();
      if (failures > 0) onOutage?.(undefined);
      return result;
    } catch (thrown) {
      const error = translateError(thrown, "reading the chain");
      if (!(error instanceof RpcUnavailableError)) throw error;
      if (failures === 0) onOutage?.(error);
    }
    const longest = Math.max(intervalMs, MAX_PAUSE_MS);
    await pause(Math.min(intervalMs * 2 ** Math.min(failures, 10), longest), signal);
  }
}
