/** The chance that a bound does not hold. */
const RISK = 0.05;

/** The logarithms of the chances of 0 .. `events` events in so many trials. */
function* logChances(events: number, trials: number, rate: number): Generator<number> {
  const odds = Math.log(rate) - Math.log1p(-rate);
  let log = trials * Math.log1p(-rate);
  for (let k = 0; k <= events; k++) {
    yield log;
    log += Math.log((trials - k) / (k + 1)) + odds;
  }
}

/**
 * Returns the chance for at most `events` events in independent trials.
 * @param rate A trial's rate, above 0 and below 1.
 */
function chanceOfAtMost(events: number, trials: number, rate: number): number {
  let chance = 0;
  for (const log of logChances(events, trials, rate)) chance += Math.exp(log);
  return chance;
}

/**
 * The 95 % upper bound of a rate by Clopper and Pearson: at any larger rate, so few events had a chance below 5 %.
 * Without events it is about 3 / `trials`.
 * @returns 1 without trials
 */
export function upperBound(events: number, trials: number): number {
  if (events >= trials) return 1;
  let [low, high] = [events / trials, 1];
  for (let step = 0; step < 64; step++) {
    const rate = (low + high) / 2;
    if (rate === low || rate === high) break;
    if (chanceOfAtMost(events, trials, rate) > RISK) low = rate;
    else high = rate;
  }
  return high;
}
