import type { SeenJob } from "./jobs.ts";

/** Features as a worker would bin them. Each says of a job which bin it is in. */
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

/** How much likelier a job is a real one than a canary, as a logarithm. */
type Score = (job: SeenJob) => number;

/**
 * Fits scores on jobs whose kind is known: one score for each feature alone, and one score for all features, as if they
 * were independent.
 */
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
 * The share of real jobs that a worker can pick by a score so that of what it picks at most a tenth as many are
 * canaries as of all jobs: the lies that it could tell there.
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
