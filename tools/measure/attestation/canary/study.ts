import { canaries, realJobs, type Purse } from "./jobs.ts";
import { fitScores, pickedShare } from "./picking.ts";

/** Purses, from the most careless to one that does what it can. */
export const PURSES: readonly Purse[] = [
  { name: "noise, own accounts", noise: true, ownFunds: true },
  { name: "noise", noise: true, ownFunds: false },
  { name: "own accounts", noise: false, ownFunds: true },
  { name: "real data, accounts as others have", noise: false, ownFunds: false },
];

/** What can be told of a purse's canaries. */
type Study = {
  purse: string;
  /** By feature, and by all of them, the share of real jobs that a worker can pick. */
  picked: Readonly<Record<string, number>>;
};

/** Fits on some accounts and seeds and tests on others. @param count Real jobs, and canaries, of each. */
export function study(purse: Purse, count: number, seed: number): Study {
  const scores = fitScores(realJobs(count, seed), canaries(count, purse, seed + 1));
  const [real, canary] = [realJobs(count, seed + 2), canaries(count, purse, seed + 3)];
  const picked = Object.entries(scores).map(([name, score]) => [name, pickedShare(score, real, canary)] as const);
  return { purse: purse.name, picked: Object.fromEntries(picked) };
}
