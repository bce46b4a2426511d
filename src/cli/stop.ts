const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/**
 * Runs an action until the end, with a signal given at Ctrl-C or SIGTERM. A second Ctrl-C or SIGTERM ends the process
 * at once.
 */
export async function untilStopped<T>(onStop: () => void, action: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const handler = (): void => {
    if (stop.signal.aborted) process.exit(130);
    onStop();
    stop.abort();
  };
  for (const name of SIGNALS) process.on(name, handler);
  try {
    return await action(stop.signal);
  } finally {
    for (const name of SIGNALS) process.off(name, handler);
  }
}
