import type { SeenJob } from "./jobs.ts";

/** Features, binned like a worker would. Each feature maps a job to a bin. */
const FEATURES = {
  program: ({ program }) => program,
  entropy: ({ entropy }) => Math.floor(2 * entropy),
  repeats: ({ repeats }) => repeats,
  funder: ({ funder }) => (funder < 1_000 ? funder : "another"),
  secondFunder: ({ secondFunder }) => (secondFunder < 1_000 ? secondFunder : "another"),
  accountAge: ({ ageDays }) => Math.floor(2 * Math.log(ageDays + 1)),
  delivery: ({ delivery }) => delivery,
} satisfies Record<string, (job: SeenJob) => string | number>;

type Feature = keyof typeof FEATURES;

/** A logarithm: how much likelier a job is real than a canary. */
type Score = (job: SeenJob) => number;

/** Fits scores on jobs of known kind: a score per feature, and a score for all features, treated as independent. */
export function fitScores(real: readonly SeenJob[], canary: readonly SeenJob[]): Record<Feature | "all", Score> {
  const names = Object.keys(FEATURES) as Feature[];
  const fitted = names.map((name) => [name, fitOne(FEATURES[name], real, canary)] as const);
  const all: Score = (job) => fitted.reduce((sum, [, score]) => sum + score(job), 0);
  return { ...(Object.fromEntries(fitted) as Record<Feature, Score>), all };
}

function fitOne(bin: (job: SeenJob) => string | number, real: readonly SeenJob[], canary: readonly SeenJob[]): Score {
  const [ofReal, ofCanary] = [countBins(bin, real), countBins(bin, canary)];
  // One job more in each bin: a bin that was not seen says little.
  return (job) => {
    const share = (counts: Map<string | number, number>, of: number): number => ((counts.get(bin(job)) ?? 0) + 1) / of;
    return Math.log(share(ofReal, real.length) / share(ofCanary, canary.length));
  };
}

function countBins(bin: (job: SeenJob) => string | number, jobs: readonly SeenJob[]): Map<string | number, number> {
  const counts = new Map<string | number, number>();
  for (const job of jobs) counts.set(bin(job), (counts.get(bin(job)) ?? 0) + 1);
  return counts;
}

/**
 * Returns the share of real jobs that a worker can pick by a score, with at most a tenth of the canaries' overall rate
 * among the picks: the lies that the worker could tell.
 */
export function pickedShare(score: Score, real: readonly SeenJob[], canary: readonly SeenJob[]): number {
  const ascending = (jobs: readonly SeenJob[]): number[] => jobs.map(score).sort((a, b) => a - b);
  const [ofReal, ofCanary] = [ascending(real), ascending(canary)];
  let max = 0;
  let above = ofCanary.length;
  let k = ofCanary.length - 1;
  for (let i = ofReal.length - 1; i >= 0; i--) {
    // All jobs with this score or more are picked.
    if (i > 0 && ofReal[i - 1] === ofReal[i]) continue;
    while (k >= 0 && ofCanary[k]! >= ofReal[i]!) k--;
    above = ofCanary.length - 1 - k;
    const share = (ofReal.length - i) / ofReal.length;
    if (above / ofCanary.length <= share / 10) max = Math.max(max, share);
  }
  return max;
}
