/**
 * Runs in a copy with mutants in the contracts: loads the tests once, finds the mutants executed by each test, then
 * runs each mutant's tests, up to the first failure. `node runner.ts PLAN`, with a JSON file PLAN, prints a JSON object
 * a line.
 */
import { readFileSync, writeFileSync, existsSync } from "node:fs";
import { resolve } from "node:path";
import hre from "hardhat";
import Mocha from "mocha";
import { alive } from "./alive.ts";
import type { Plan, Reach, Report } from "./workOrder.ts";

const plan = JSON.parse(readFileSync(process.argv[2]!, "utf8")) as Plan;
const say = (report: Report): void => console.log(`@${JSON.stringify(report)}`);

/** An id without a mutant, for which nothing is reported. */
const NOBODY = 2 ** 32;
/** Tests in the first run for a mutant; each further run doubles their number. */
const FIRST_TESTS = 3;
/** The killer's name for a mutant with an endless test. */
const NO_END = "no end";
/** The tests that killed the last mutants, its neighbours, are tried first on a mutant. */
const LAST_KILLERS = 6;

type Connection = Awaited<ReturnType<typeof hre.network.create>>;
const open = new Set<Connection>();
/** The last ones, the latest first, and how many mutants each test killed. */
let killers: string[] = [];
const kills = new Map<string, number>();
for (const title of plan.killers) count(title);
/** Ids that were reported since the set was last read. */
let heard = new Set<number>();

hre.hooks.registerHandlers("network", {
  newConnection: async (context, next) => {
    const connection = await next(context);
    await connection.provider.request({ method: "hardhat_setCoinbase", params: [alive.coinbase()] });
    if (!alive.keep) open.add(connection);
    return connection;
  },
  onCoverageData: (_context, tags) => {
    for (const tag of tags) heard.add(Number(`0x${tag}`));
    return Promise.resolve();
  },
});

// The starter of this process ends the process if a test does not end.
const mocha = new Mocha({ timeout: 0, reporter: class {} as never });
mocha.cleanReferencesAfterRun(false);
for (const file of plan.files) mocha.addFile(resolve(file));
await mocha.loadFilesAsync();

const reach = existsSync(plan.reach) ? (JSON.parse(readFileSync(plan.reach, "utf8")) as Reach) : await record();
writeFileSync(plan.reach, JSON.stringify(reach));
for (const id of plan.mutants) await tryMutant(id);
process.exit(0);

function count(title: string): void {
  kills.set(title, (kills.get(title) ?? 0) + 1);
}

/** Runs mocha once over the tests with a chosen full title. */
async function run(chosen: (title: string) => boolean, bail: boolean, listen?: (runner: Mocha.Runner) => void) {
  mocha.grep({ test: chosen } as unknown as RegExp);
  mocha.bail(bail);
  await new Promise<void>((done) => {
    const runner = mocha.run(() => done());
    runner.on("test end", (test) => console.log(test.fullTitle()));
    listen?.(runner);
  });
}

/** Closes the chains that were made for a mutant. */
async function clear(): Promise<void> {
  alive.worlds.clear();
  for (const connection of open) await connection.close();
  open.clear();
}

function tell(test: Mocha.Test, error: unknown): void {
  say({ kind: "fails", title: test.fullTitle(), message: String(error).split("\n")[0]! });
}

/** Finds the mutants executed by each test, while no mutant is active. */
async function record(): Promise<Reach> {
  const titles: string[] = [];
  const failing: string[] = [];
  const unsure = new Set<string>();
  const tests: Record<string, { ids: number[]; milliseconds: number }> = {};
  const suites: { title: string; titles: string[]; ids: number[] }[] = [];
  const take = (): number[] => {
    const ids = [...heard];
    heard = new Set();
    return ids;
  };
  const titlesIn = (suite: Mocha.Suite): string[] => {
    const all: string[] = [];
    suite.eachTest((test) => void all.push(test.fullTitle()));
    return all;
  };
  const stack: Mocha.Suite[] = [];
  const endSetUp = () => {
    const suite = stack.at(-1);
    const ids = take();
    if (suite !== undefined && ids.length > 0) suites.push({ title: suite.fullTitle(), titles: titlesIn(suite), ids });
  };
  await run(
    () => true,
    false,
    (runner) => {
      runner.on("suite", (suite) => {
        endSetUp();
        stack.push(suite);
      });
      runner.on("suite end", () => {
        endSetUp();
        stack.pop();
      });
      let begun = 0;
      runner.on("test", () => {
        endSetUp();
        begun = performance.now();
      });
      runner.on("test end", (test) => {
        tests[test.fullTitle()] = { ids: take(), milliseconds: performance.now() - begun };
      });
      runner.on("pass", (test) => void titles.push(test.fullTitle()));
      runner.on("fail", (test, error) => {
        // Tests whose set-up fails do not run.
        if ((test.type as string) === "hook") tell(test, error);
        else unsure.add(test.fullTitle());
      });
    },
  );
  if (titles.length === 0) throw new Error("no test passes without a mutant");
  await clear();
  // Reports take gas. A gas test counts if it passes without reports.
  alive.id = NOBODY;
  await run(
    (title) => unsure.has(title),
    false,
    (runner) => {
      runner.on("pass", (test) => void titles.push(test.fullTitle()));
      runner.on("fail", (test, error) => {
        failing.push(test.fullTitle());
        tell(test, error);
      });
    },
  );
  await clear();
  return { tests: Object.fromEntries(titles.map((title) => [title, tests[title]!])), suites, failing };
}

/**
 * Returns the tests executing a mutant, the likeliest killers first. First come the killers of neighbouring mutants.
 * Tests executing the mutant themselves come before tests with an executing set-up. Among these, fast tests with few
 * mutants and many kills come first.
 */
function testsOf(id: number): { titles: string[]; fresh: Set<string> } {
  const cost = (title: string): number => {
    const { ids, milliseconds } = reach.tests[title]!;
    return (Math.max(ids.length, 1) * milliseconds) / (1 + (kills.get(title) ?? 0)) ** 2;
  };
  const sorted = (titles: Iterable<string>): string[] =>
    [...new Set(titles)].filter((title) => reach.tests[title] !== undefined).sort((a, b) => cost(a) - cost(b));
  const passes = (title: string): boolean => plan.all || reach.tests[title]!.ids.includes(id);
  const direct = sorted(Object.keys(reach.tests).filter(passes));
  const suites = reach.suites.filter(({ ids }) => ids.includes(id));
  const inSetUp = sorted(suites.flatMap(({ titles }) => titles)).filter((title) => !direct.includes(title));
  const all = new Set([...direct, ...inSetUp]);
  const titles = new Set([...killers.filter((title) => all.has(title)), ...all]);
  return { titles: [...titles].slice(0, plan.tries), fresh: new Set(suites.map(({ title }) => title)) };
}

function isTimeout(error: unknown): boolean {
  return (error as { code?: string }).code === "ERR_MOCHA_TIMEOUT";
}

async function tryMutant(id: number): Promise<void> {
  const { titles, fresh } = testsOf(id);
  say({ kind: "begins", id });
  const begun = performance.now();
  let killer: string | undefined;
  Object.assign(alive, { id, fresh });
  for (let from = 0; from < titles.length && killer === undefined; from = 2 * from + FIRST_TESTS) {
    const chosen = new Set(titles.slice(from, 2 * from + FIRST_TESTS));
    await run(
      (title) => chosen.has(title),
      true,
      (runner) => runner.on("fail", (test, error) => void (killer ??= isTimeout(error) ? NO_END : test.fullTitle())),
    );
  }
  await clear();
  if (killer !== undefined && killer !== NO_END) {
    killers = [...new Set([killer, ...killers])].slice(0, LAST_KILLERS);
    count(killer);
  }
  say({ kind: "ends", id, tests: titles.length, milliseconds: Math.round(performance.now() - begun), killer });
}
