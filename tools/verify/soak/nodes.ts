import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { shapesOf } from "../../../src/model/onnx/inputs/readInputFile.ts";
import { CATALOGUE } from "../../../testkit/models/catalogue.ts";
import type { ServedModel } from "../../../testkit/processes/refuteProcess.ts";
import { SCENARIOS, staged, type Scenario } from "../../../testkit/processes/scenarios.ts";
import { Story, type StoryResult, type StoryTerms } from "../../../testkit/processes/story.ts";
import { prepareForProcesses } from "./processes.ts";

/** The results' folder: a stopped campaign goes on from the results. */
const FOLDER = join("cache", "soak");
const RESULTS = join(FOLDER, "nodes.jsonl");

const TERMS: Omit<StoryTerms, "seed"> = { lies: 5, jobs: 5, window: 90, clock: 90, blockSeconds: 1, limit: 420 };
/** Catalogue models known to worker and watcher in addition: with the story's models there are ten. */
const OTHER_MODELS = 8;

type Row = { commit: string; scenario: string; seed: number; failed?: string; result?: Omit<StoryResult, "output"> };

/**
 * Plays every scenario on real nodes with several seeds, in order. Scenarios from an earlier run on the same commit are
 * not played again.
 * @param only Names of scenarios, or name parts, separated by ";"; all if left out.
 * @returns Whether no lie became final and no honest party lost anything.
 */
export async function soakNodes(seeds: number, first: number, only = ""): Promise<boolean> {
  prepareForProcesses();
  mkdirSync(FOLDER, { recursive: true });
  const commit = execFileSync("git", ["describe", "--always", "--dirty"]).toString().trim();
  const known = readRows().filter((row) => row.commit === commit);
  const rows: Row[] = [];
  const parts = only.split(";");
  const chosen = SCENARIOS.filter(({ name }) => parts.some((part) => name.includes(part)));
  console.log(HEADING);
  for (let seed = first; seed < first + seeds; seed++) {
    for (const scenario of chosen) {
      const before = known.find((row) => row.scenario === scenario.name && row.seed === seed);
      const row = before ?? (await play(scenario, seed, commit));
      rows.push(row);
      console.log(lineOf(row));
    }
  }
  return rows.every(({ result }) => result !== undefined && isGood(result));
}

async function play(scenario: Scenario, seed: number, commit: string): Promise<Row> {
  const row: Row = { commit, scenario: scenario.name, seed };
  try {
    const story = await Story.create({ ...TERMS, ...scenario.terms, seed, otherModels: otherModels() });
    const { output, ...result } = await story.play(staged(scenario, story));
    row.result = result;
    const log = join(FOLDER, `${scenario.name.replaceAll(/[^a-z0-9]+/g, "-")}-${seed}`);
    for (const [party, text] of Object.entries(output)) writeFileSync(`${log}-${party}.log`, text);
  } catch (error) {
    row.failed = String(error).slice(0, 500);
  }
  appendFileSync(RESULTS, JSON.stringify(row) + "\n");
  return row;
}

const readRows = (): Row[] =>
  existsSync(RESULTS)
    ? readFileSync(RESULTS, "utf8")
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Row)
    : [];

/** The smallest files of the catalogue: they are real, and quick to compile. */
function otherModels(): ServedModel[] {
  const models = CATALOGUE.map(({ bytes, bind, inputs }) => {
    const shapes = Object.entries(shapesOf(inputs())).filter(([name]) => !(name in bind));
    return { bytes: bytes(), bind, shapes: Object.fromEntries(shapes) };
  });
  return models.sort((a, b) => a.bytes.length - b.bytes.length).slice(0, OTHER_MODELS);
}

const isGood = ({ survived, lostGames, jobs, paid, reverted, gains, errors }: Omit<StoryResult, "output">) =>
  !Object.keys(errors).some((message) => message.includes("unexpected")) &&
  survived === 0 &&
  lostGames === 0 &&
  paid === jobs &&
  reverted.length === 0 &&
  Object.values(gains).every(({ net }) => net >= 0);

const COLUMNS = [22, 5, 8, 9, 10, 9, 13, 16, 15, 23, 8];
const row = (cells: readonly string[]): string =>
  cells
    .map((cell, k) => cell.padEnd(COLUMNS[k]!))
    .join("")
    .trimEnd();
const HEADING = row([
  "scenario",
  "seed",
  "lies",
  "survived",
  "jobs paid",
  "lost",
  "net (worker,",
  "watcher), ether",
  "reverted/sent",
  "restart to act, acted",
  "seconds",
]);

function lineOf({ scenario, seed, result, failed }: Row): string {
  if (result === undefined) return row([scenario, String(seed), `failed: ${failed}`]);
  const { lies, survived, jobs, paid, lostGames, gains, reverted, sent, lives, seconds } = result;
  const acts = lives.flatMap(({ toAct }) => (toAct === undefined ? [] : [toAct])).sort((a, b) => a - b);
  const act =
    acts.length === 0 ? "-" : `${acts[Math.floor(acts.length / 2)]!.toFixed(1)}, ${acts.at(-1)!.toFixed(1)} s`;
  return row([
    scenario,
    String(seed),
    String(lies),
    String(survived),
    `${paid} of ${jobs}`,
    `${lostGames}`,
    gains.worker!.net.toFixed(4),
    gains.watcher!.net.toFixed(4),
    `${reverted.length}/${sent}`,
    act,
    String(seconds),
  ]);
}
