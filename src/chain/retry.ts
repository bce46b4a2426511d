/** How often and how quickly something is tried. Times in milliseconds. */
export type AttemptPolicy = {
  /** Maximum number of failed attempts. A slow attempt is no failure: another attempt begins in parallel. */
  max: number;
  /** No attempt begins later than this time after the first attempt. */
  beginWithinMs: number;
  /** Pause after the failure of attempt `k` (from 0). */
  pauseMs: (k: number) => number;
  /** How long attempt `k` may take before the next attempt begins in parallel; undefined to wait for attempt `k`. */
  besideMs: (k: number) => number | undefined;
  /** How long no attempt may begin; such a rest is no attempt. Infinity for a rest that is not waited for. */
  restMs: () => number;
  /** The longest time of such rests, in addition to `beginWithinMs`. */
  maxRestMs: number;
  /** Whether attempt `k`'s failure is final: no other attempt follows. */
  isFinal: (error: Error, k: number) => boolean;
};

/**
 * Makes attempts until one succeeds. The attempted action must do no harm if done twice: attempts may overlap, and an
 * attempt continues even if nothing waits for it.
 * @param attempt Makes attempt `k`, from 0.
 * @returns The first successful attempt's result.
 * @throws The final error, or the error that `choose` takes from the errors of all attempts.
 */
export function firstSuccess<T>(
  attempt: (k: number) => Promise<T>,
  { max, beginWithinMs, pauseMs, besideMs, restMs, maxRestMs, isFinal }: AttemptPolicy,
  choose: (errors: readonly Error[]) => Error,
): Promise<T> {
  const since = performance.now();
  const errors: Error[] = [];
  let begun = 0;
  let running = 0;
  let isDone = false;
  let timer: NodeJS.Timeout | undefined;
  let isResting = false;
  let rested = 0;
  const mayBegin = (): boolean => errors.length < max && performance.now() - since - rested <= beginWithinMs;
  return new Promise<T>((resolve, reject) => {
    const end = (settle: () => void): void => {
      isDone = true;
      clearTimeout(timer);
      settle();
    };
    const giveUp = (error: Error): void => end(() => reject(error));
    const begin = (): void => {
      if (isDone) return;
      if (!mayBegin()) return running === 0 ? giveUp(choose(errors)) : undefined;
      const rest = Math.min(restMs(), maxRestMs - rested);
      if (rest > 0 && restMs() < Infinity) return restFor(rest);
      const k = begun++;
      running++;
      beginAfter(besideMs(k));
      attempt(k).then(
        (answer) => end(() => resolve(answer)),
        (error: Error) => {
          running--;
          if (isDone) return;
          errors.push(error);
          if (isFinal(error, k)) giveUp(error);
          // The rest goes on: its end begins the next attempt.
          else if (isResting) return;
          else if (mayBegin()) beginAfter(pauseMs(k));
          else if (running === 0) giveUp(choose(errors));
        },
      );
    };
    const restFor = (ms: number): void => {
      const start = performance.now();
      isResting = true;
      clearTimeout(timer);
      timer = setTimeout(() => {
        isResting = false;
        rested += Math.max(1, performance.now() - start);
        begin();
      }, ms);
    };
    const beginAfter = (ms: number | undefined): void => {
      clearTimeout(timer);
      timer = ms === undefined ? undefined : setTimeout(begin, ms);
    };
    begin();
  });
}
