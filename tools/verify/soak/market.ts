import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Prng } from "../../../testkit/random/prng.ts";
import { playDeals } from "../../../testkit/soak/deals/play.ts";
import { Town } from "../../../testkit/soak/deals/town.ts";
import { Totals } from "../../../testkit/soak/totals.ts";

/** Deals on one chain. */
const DEALS_A_CHAIN = 250;
/** The results' folder: a stopped campaign goes on from the results. */
const FOLDER = join("cache", "soak");
const RESULTS = join(FOLDER, "market.jsonl");

type Row = { commit: string; seed: number; totals: string };

/**
 * Makes deals of every kind on embedded chains, up to the given number of jobs. Deals from an earlier run on the same
 * commit are not played again.
 * @param progress Called after each chain.
 */
export async function soakMarket(jobs: number, seed: number, progress: (totals: Totals) => void): Promise<Totals> {
  mkdirSync(FOLDER, { recursive: true });
  const commit = execFileSync("git", ["describe", "--always", "--dirty"]).toString().trim();
  const known = readRows().filter((row) => row.commit === commit);
  const all = new Totals();
  for (let chain = seed; all.jobs < jobs; chain++) {
    const before = known.find((row) => row.seed === chain);
    const totals = before === undefined ? await playChain(chain, DEALS_A_CHAIN) : Totals.parse(before.totals);
    if (before === undefined) {
      const row: Row = { commit, seed: chain, totals: totals.toJson() };
      appendFileSync(RESULTS, JSON.stringify(row) + "\n");
    }
    all.add(totals);
    progress(all);
  }
  return all;
}

/** Makes `deals` deals on one chain. The seed's decisions are the same each time; ticket draws are not. */
export async function playChain(seed: number, deals: number): Promise<Totals> {
  const totals = new Totals();
  const name = `--seed ${seed} --market 1`;
  try {
    await playDeals(await Town.create(new Prng(seed), totals, name), deals);
  } catch (error) {
    totals.wrong.push(`${name}: ${String(error)}`);
  }
  return totals;
}

const readRows = (): Row[] =>
  existsSync(RESULTS)
    ? readFileSync(RESULTS, "utf8")
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Row)
    : [];
