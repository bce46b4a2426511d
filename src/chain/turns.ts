import { pause } from "./pause.ts";

/**
 * Runs actions in the order of arrival. An action begins when the action before has ended, or has run for a time: one
 * slow request may not hold up all that follows.
 * @param longestMs The time.
 * @returns Runs an action, and gives what the action gives.
 */
export function inTurn(longestMs: number): <T>(action: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (action) =>
    new Promise((resolve, reject) => {
      last = last.then(async () => {
        const over = new AbortController();
        await Promise.race([action().then(resolve, reject), pause(longestMs, over.signal)]);
        over.abort();
      });
    });
}
