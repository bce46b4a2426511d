import { RpcUnavailableError, SignerUnavailableError } from "../../chain/errors.ts";
import { pause } from "../../chain/pause.ts";
import { translateError } from "../../chain/translateError.ts";

/** How an outage is waited out. */
export type OutageOptions = {
  signal?: AbortSignal;
  /** Pause after the first failure, milliseconds; it doubles up to the maximum. */
  intervalMs: number;
  /** Called when no node or signer answers, and with undefined when one answers again. */
  onOutage?: (error: Outage | undefined) => void;
  /** After so many milliseconds without an answer the function fails as the action did. Unlimited if absent. */
  maxMs?: number;
};

/** Nobody answers: neither the request nor the process that asked is at fault. */
type Outage = RpcUnavailableError | SignerUnavailableError;

export const isOutage = (error: unknown): error is Outage =>
  error instanceof RpcUnavailableError || error instanceof SignerUnavailableError;

/** The longest pause between two tries: the nodes' own requests are repeated in each. */
const MAX_PAUSE_MS = 15_000;

/**
 * Runs an action, and repeats the action while no node answers, or the signer is away.
 * @param action May run any number of times.
 * @throws any other error, the outage's after `maxMs`, or the signal's reason
 */
export async function throughOutages<T>(
  action: () => Promise<T>,
  { signal, intervalMs, onOutage, maxMs = Infinity }: OutageOptions,
): Promise<T> {
  const end = performance.now() + maxMs;
  for (let failures = 0; ; failures++) {
    signal?.throwIfAborted();
    try {
      const result = await action();
      if (failures > 0) onOutage?.(undefined);
      return result;
    } catch (thrown) {
      const error = translateError(thrown, "reading the chain");
      if (!isOutage(error)) throw error;
      if (performance.now() >= end) throw error;
      if (failures === 0) onOutage?.(error);
    }
    const longest = Math.max(intervalMs, MAX_PAUSE_MS);
    await pause(Math.min(intervalMs * 2 ** Math.min(failures, 10), longest), signal);
  }
}
