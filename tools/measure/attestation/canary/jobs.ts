import { Prng } from "../../../../src/base/prng.ts";

/** A job's public data, as seen by a worker before taking the job. */
export type SeenJob = {
  /** The program's number, ordered by demand. */
  program: number;
  /** Entropy of the input's bytes, bits a byte. */
  entropy: number;
  /** How many earlier jobs by the account had the same input. */
  repeats: number;
  /** The account's funder, and the funder's funder. */
  funder: number;
  secondFunder: number;
  /** Days since the account's first transaction. */
  ageDays: number;
  /** Whether its outputs are delivered, and to a contract. */
  delivery: "none" | "account" | "contract";
};

/** How a purse makes its canaries. */
export type Purse = {
  name: string;
  /** Noise in place of real data. */
  noise: boolean;
  /** New accounts funded by a single account, in place of accounts like other people's. */
  ownFunds: boolean;
};

/** Accounts that exchanges and bridges fund; a few fund most. */
const HUBS = 40;
const PROGRAMS = 30;
const JOBS_AN_ACCOUNT = 6;
/** Jobs of dapps: their requester is a contract with a history, which no purse can have. */
const DAPP_SHARE = 0.1;
/** Funders outside the hubs are numbered from this number. */
const OTHERS = 1_000;

const unit = (random: Prng): number => random.uint32() / 2 ** 32;
const normal = (random: Prng): number =>
  Math.sqrt(-2 * Math.log(1 - unit(random))) * Math.cos(2 * Math.PI * unit(random));
/** 0 to count - 1, the first ones most often. */
const skewed = (random: Prng, count: number): number => Math.floor(count * unit(random) ** 2.5);

/** Draws a person's account. */
function account(random: Prng) {
  return {
    funder: unit(random) < 0.8 ? skewed(random, HUBS) : OTHERS + random.below(1_000_000),
    secondFunder: skewed(random, HUBS),
    ageDays: Math.exp(4.5 + 1.2 * normal(random)),
    favourite: skewed(random, PROGRAMS),
    delivery: unit(random) < 0.7 ? ("account" as const) : ("none" as const),
    repeating: unit(random) < 0.3 ? 0.4 : 0.02,
  };
}

/** A job of an account of a person: real data, mostly for one program. */
function job(random: Prng, of: ReturnType<typeof account>): SeenJob {
  const program = unit(random) < 0.7 ? of.favourite : skewed(random, PROGRAMS);
  return {
    program,
    // Data of one program are alike.
    entropy: Math.min(8, 3 + ((program * 7) % 11) / 3 + 0.5 * normal(random)),
    repeats: unit(random) < of.repeating ? 1 + random.below(4) : 0,
    funder: of.funder,
    secondFunder: of.secondFunder,
    ageDays: of.ageDays,
    delivery: of.delivery,
  };
}

/** Real jobs: of people, and of dapps. */
export function realJobs(count: number, seed: number): SeenJob[] {
  const random = new Prng(seed);
  let of = account(random);
  return Array.from({ length: count }, (_, k) => {
    if (k % JOBS_AN_ACCOUNT === 0) of = account(random);
    const made = job(random, of);
    if (unit(random) >= DAPP_SHARE) return made;
    return { ...made, delivery: "contract" as const, ageDays: Math.exp(5.5 + 0.5 * normal(random)) };
  });
}

/** Canaries of a purse. */
export function canaries(count: number, purse: Purse, seed: number): SeenJob[] {
  const random = new Prng(seed);
  const ownFunder = OTHERS + random.below(1_000_000);
  let of = account(random);
  return Array.from({ length: count }, (_, k) => {
    if (k % JOBS_AN_ACCOUNT === 0) {
      of = account(random);
      if (purse.ownFunds) of = { ...of, funder: ownFunder, ageDays: 20 * unit(random) };
    }
    const made = job(random, of);
    if (purse.noise) return { ...made, entropy: 7.9 + 0.1 * unit(random), repeats: 0 };
    return made;
  });
}
