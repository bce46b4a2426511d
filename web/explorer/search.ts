import {
  isOpen,
  stands,
  type ClaimRecord,
  type GameRecord,
  type History,
  type JobRecord,
} from "../../src/chain/market/history.ts";
import { programName } from "./values.ts";

/** What jobs are chosen by, beside a text. */
export const FILTERS = {
  all: "All",
  open: "Open",
  claimed: "Claimed",
  disputed: "In dispute",
  final: "Final",
  refuted: "Refuted",
} as const;
export type Filter = keyof typeof FILTERS;

const hasOpenGame = ({ games }: ClaimRecord): boolean => games.some(({ closed }) => closed === undefined);

const HOLDS: Record<Filter, (job: JobRecord) => boolean> = {
  all: () => true,
  open: ({ open }) => open,
  claimed: ({ claims, holder }) => holder !== undefined || claims.some(isOpen),
  disputed: ({ claims }) => claims.some((claim) => isOpen(claim) && hasOpenGame(claim)),
  final: ({ claims }) => claims.some(stands),
  refuted: ({ claims }) => claims.some(({ refuted }) => refuted),
};

/**
 * The jobs of a market that a text and a filter choose, the newest first.
 * @param text The beginning of an id (of the job, a claim, a dispute), of an address, or of a program's root or name.
 */
export function searchJobs(history: Pick<History, "jobs">, text: string, filter: Filter): JobRecord[] {
  const wanted = text.trim().toLowerCase();
  const has = (value: string | undefined): boolean => value?.toLowerCase().startsWith(wanted) === true;
  return [...history.jobs.values()].reverse().filter((record) => {
    if (!HOLDS[filter](record)) return false;
    const { id, job, claims, holder } = record;
    const own = [id, job.requester, job.programRoot, holder?.worker, programName(job.programRoot)];
    return wanted === "" || [...own, ...claims.flatMap(namesOf)].some(has);
  });
}

const namesOf = ({ id, claim, games }: ClaimRecord): string[] => [id, claim.worker, ...games.flatMap(gameNames)];
const gameNames = ({ id, challenger }: GameRecord): string[] => [id, challenger];

/** What lies behind claims that are not over, in the smallest unit of the stake asset. */
export const atStake = ({ claims }: Pick<History, "claims">): bigint =>
  [...claims.values()].reduce((sum, record) => (isOpen(record) ? sum + record.claim.collateral : sum), 0n);
