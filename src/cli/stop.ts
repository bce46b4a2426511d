/** A signal that ends at Ctrl-C or SIGTERM; a second one ends the process at once. */
export function stopSignal(onStop: () => void): AbortSignal {
  const stop = new AbortController();
  const handler = () => {
    if (stop.signal.aborted) process.exit(130);
    onStop();
    stop.abort();
  };
  process.on("SIGINT", handler);
  process.on("SIGTERM", handler);
  return stop.signal;
}
