/**
 * Mutation testing of the contracts: small changes, one at a time, each of which a test should notice.
 * `npm run mutate -- [--files game/DisputeGame.sol,game/Descent.sol] [--tests GLOBS] [--wider GLOBS] [--max N]
 * [--seed S] [--tries N] [--calls FILE] [--json FILE] [--resume FILE] [--survivors FILE] [--alone] [--in FOLDER]`
 * FOLDER keeps the build of the contracts with their mutants for the next run.
 * - `--wider`: tests that run only for mutants that survive `--tests`.
 * - `--max`: the maximum number of mutants of each file, drawn by the seed.
 * - `--calls`: keeps the recorded calls on which mutants of contracts without state are tried.
 * - `--resume`: takes over the verdicts in an earlier run's JSON, also where lines have moved.
 * - `--tries`: the maximum number of tests that a mutant is tried on.
 * - `--survivors`: tries the mutants that survived in an earlier run's JSON on all tests. The build holds only these
 *   and is optimised as usual, so that tests of gas count too.
 * - `--alone`: makes a build of its own for each mutant, which takes minutes each, for tests that measure exact gas.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Workspace } from "../instrument/workspace.ts";
import { readRecording } from "../replay/calls.ts";
import { filesOf, recorded, STATELESS } from "../replay/recorded.ts";
import { Replay } from "../replay/replay.ts";
import { replayMutants } from "./byReplay.ts";
import type { Plan, Report } from "./workOrder.ts";
import { constantsOf, withMutants, type Mutant } from "./schemata.ts";
import { forGood } from "./yul.ts";

/** The folders whose contracts decide over money and verdicts. */
const PROTOCOL = [
  "vault/*.sol",
  "provisioning/*.sol",
  "market/*.sol",
  "game/*.sol",
  "program/*.sol",
  "consumer/*.sol",
  "panel/*.sol",
  "tickets/*.sol",
  "pledge/*.sol",
  "tdx/*.sol",
  "merkle/TensorTree.sol",
];
const VERIFIER = ["merkle/PositionalMerkle.sol", "verifier/*.sol", "verifier/elementary/*.sol"];
const TESTED = ["consumer", "game", "market", "panel", "pledge", "provisioning", "tdx", "tickets", "vault"];
const PROTOCOL_TESTS = TESTED.map((folder) => `test/contracts/${folder}/**/*.test.ts`);
/** Tests that compare what is burnt. The question which mutant is alive burns gas, so they would fail under any. */
const GAS_TESTS = /\/(economics|gasPrices|gasSchedule)\.test\.ts$/;
const LIBRARY = "contracts/test/Mutants.sol";
/** A test that takes so long under a mutant is taken to run for ever, also on a machine that does much else. */
const QUIET_SECONDS = 300;

const { values } = parseArgs({
  options: {
    files: { type: "string", default: [...PROTOCOL, ...VERIFIER].join(",") },
    tests: { type: "string", default: PROTOCOL_TESTS.join(",") },
    wider: { type: "string", default: "" },
    max: { type: "string", default: "1000000" },
    seed: { type: "string", default: "1" },
    tries: { type: "string", default: "1000000" },
    calls: { type: "string" },
    json: { type: "string" },
    resume: { type: "string" },
    survivors: { type: "string" },
    alone: { type: "boolean", default: false },
    in: { type: "string" },
  },
});

type Tried = Mutant & { killer?: string; tests: number; milliseconds: number };

const survived = new Set(earlier(values.survivors).flatMap((v) => (v.killer === undefined ? [nameOf(v)] : [])));
const isWanted = (mutant: Mutant): boolean => values.survivors === undefined || survived.has(nameOf(mutant));
const workspace = new Workspace(values.in, values.survivors !== undefined || values.alone);
try {
  process.exitCode = (await mutate()) ? 0 : 1;
} finally {
  workspace.remove();
}

async function mutate(): Promise<boolean> {
  workspace.addLibrary(LIBRARY, "tools/verify/mutate/Mutants.sol");
  workspace.write(
    "testkit/protocol/useWorld.ts",
    workspace
      .read("tools/verify/mutate/useWorld.ts")
      .replace("../../../testkit/protocol/", "./")
      .replace("./alive", "../../tools/verify/mutate/alive"),
  );
  const files = workspace.files(values.files.replace(/^|,/g, "$&contracts/"));
  const made: Mutant[] = [];
  const tried: Tried[] = [];
  const isStateless = (file: string) => STATELESS.test(file);
  const together = [
    [files.filter((file) => !isStateless(file)), tryByTests],
    [files.filter(isStateless), tryByReplay],
  ] as const;
  for (const [group, tryAll] of values.alone ? [[files, tryAlone] as const] : together) {
    if (group.length === 0) continue;
    const originals = group.map((file) => [file, workspace.read(file)] as const);
    const own = addMutants(group, made.length + 1, values.alone ? () => false : isWanted);
    console.log(`${own.length} mutants in ${group.length} files`);
    made.push(...own);
    const { over, drawn } = choose(group, own);
    tried.push(...over, ...(await tryAll(drawn, tried.concat(over))));
    for (const [file, original] of originals) workspace.write(file, original);
  }
  return report(files, made, tried);
}

/** Adds the wanted mutants to the contracts. */
function addMutants(files: readonly string[], firstId: number, wanted: (mutant: Mutant) => boolean): Mutant[] {
  const made: Mutant[] = [];
  const constants = workspace
    .files("contracts/**/*.sol")
    .map((file) => ({ file, all: constantsOf(workspace.read(file)) }));
  for (const file of files) {
    const words = constants.flatMap(({ file: home, all }) =>
      all.map(({ contract, name }) => (home === file ? name : `${contract}.${name}`)),
    );
    const id = firstId + made.length;
    const alive = values.alone ? () => "true" : undefined;
    const { source, mutants } = withMutants(file, workspace.read(file), id, new Set(words), wanted, alive);
    made.push(...mutants);
    const held = mutants.filter(wanted);
    if (values.alone) for (const { id } of held) workspace.write(file, forGood(source, id));
    else if (held.length > 0) workspace.writeContract(file, source, { name: "Mutants", file: LIBRARY });
  }
  return made;
}

/** The mutants whose verdict is known, and those to try. */
function choose(files: readonly string[], made: readonly Mutant[]): { over: Tried[]; drawn: Mutant[] } {
  const before = values.resume !== undefined && existsSync(values.resume) ? values.resume : undefined;
  const known = new Map(earlier(before).map((verdict) => [nameOf(verdict), verdict]));
  const over = made.flatMap((mutant) => {
    const verdict = known.get(nameOf(mutant));
    return verdict === undefined ? [] : [{ ...verdict, ...mutant }];
  });
  const left = made.filter((mutant) => isWanted(mutant) && !known.has(nameOf(mutant)));
  const of = (file: string) => left.filter((mutant) => mutant.file === file);
  return { over, drawn: files.flatMap((file) => draw(of(file), Number(values.max), Number(values.seed))) };
}

/** Tries mutants of the protocol: the tests run again. */
async function tryByTests(drawn: readonly Mutant[], before: readonly Tried[]): Promise<Tried[]> {
  await workspace.build();
  // A build of survivors only is optimised as usual: there the question costs little.
  const countsGas = values.survivors !== undefined;
  const files = (globs: string) => workspace.files(globs).filter((file) => countsGas || !GAS_TESTS.test(file));
  const tests = files(values.tests);
  if (tests.length === 0) throw new Error(`--tests ${values.tests}: no test file (a comma ends a pattern)`);
  const tried = await run(drawn, tests, before);
  if (values.wider === "") return tried;
  const survivors = tried.filter(({ killer }) => killer === undefined);
  const again = await run(survivors, files(values.wider));
  return tried.map((mutant) => again.find(({ id }) => id === mutant.id) ?? mutant);
}

/** Tries each mutant in a build of its own, on all tests, because it is not known which of them execute it. */
async function tryAlone(drawn: readonly Mutant[], before: readonly Tried[]): Promise<Tried[]> {
  const files = workspace.files(values.tests);
  const reach = reachOf(files);
  await workspace.build();
  await run([], files, [], reach);
  const tried: Tried[] = [];
  for (const mutant of drawn) {
    const original = workspace.read(mutant.file);
    addMutants([mutant.file], 1, (other) => nameOf(other) === nameOf(mutant));
    await workspace.build();
    tried.push(...(await run([mutant], files, [...before, ...tried], reach)));
    keep([...before, ...tried]);
    workspace.write(mutant.file, original);
  }
  return tried;
}

/** Tries mutants of contracts without state: the calls of their tests are replayed. */
async function tryByReplay(drawn: readonly Mutant[]): Promise<Tried[]> {
  const calls = await recorded(workspace.path, values.calls);
  await workspace.build(filesOf(calls));
  const recording = readRecording(calls);
  const ids = drawn.map(({ id }) => id);
  const verdicts = await replayMutants(new Replay(workspace, recording), recording, ids, Number(values.seed));
  return drawn.map((mutant) => ({ ...mutant, ...verdicts.get(mutant.id)! }));
}

/** Tries mutants on tests. A mutant under which the runner hangs is killed; a new runner goes on with the next one. */
async function run(
  mutants: readonly Mutant[],
  files: readonly string[],
  before: readonly Tried[] = [],
  reach = reachOf(files),
): Promise<Tried[]> {
  const planFile = join(workspace.path, "plan.json");
  const done = new Map<number, Tried>();
  for (;;) {
    const left = mutants.filter(({ id }) => !done.has(id));
    // With `--alone`, the tests run once without a mutant, to find those that fail then.
    if (left.length === 0 && !(values.alone && !existsSync(reach))) break;
    const killers = [...before, ...done.values()].flatMap(({ killer }) => killer ?? []);
    const ids = left.map(({ id }) => id);
    const plan: Plan = { files, mutants: ids, tries: Number(values.tries), killers, all: values.alone, reach };
    writeFileSync(planFile, JSON.stringify(plan));
    let current: Mutant | undefined;
    const other: string[] = [];
    const status = await workspace.run(
      "tsx",
      ["tools/verify/mutate/runner.ts", planFile],
      (line) => {
        if (!line.startsWith("@{")) return void other.push(line);
        const message = JSON.parse(line.slice(1)) as Report;
        if (message.kind === "fails") return console.log(`decides nothing: ${message.title}: ${message.message}`);
        current = left.find(({ id }) => id === message.id);
        if (message.kind === "begins" || current === undefined) return;
        const { killer, tests, milliseconds } = message;
        done.set(current.id, { ...current, tests, milliseconds, ...(killer === undefined ? {} : { killer }) });
        if (killer === undefined)
          console.log(`survives ${tests} tests: ${current.file}:${current.line}: ${current.change}`);
        current = undefined;
        if (done.size % 10 !== 0) return;
        const each = Math.round([...done.values()].reduce((sum, one) => sum + one.milliseconds, 0) / done.size);
        console.log(`${done.size} of ${mutants.length} tried, last of ${message.id} made, ${each} ms each`);
        keep([...before, ...done.values()]);
      },
      QUIET_SECONDS,
    );
    if (current !== undefined)
      done.set(current.id, { ...current, tests: 0, milliseconds: QUIET_SECONDS * 1_000, killer: "no end" });
    else if (status !== 0) throw new Error(`the runner failed:\n${other.slice(-40).join("\n")}`);
  }
  return mutants.map(({ id }) => done.get(id)!);
}

function report(files: readonly string[], made: readonly Mutant[], tried: readonly Tried[]): boolean {
  const row = (cells: readonly (string | number)[]) =>
    console.log(cells.map((cell, i) => (i === 0 ? String(cell).padEnd(44) : String(cell).padStart(9))).join(""));
  row(["file", "made", "tried", "killed", "survive"]);
  const count = (mutants: readonly Mutant[], file: string) => mutants.filter((mutant) => mutant.file === file).length;
  const survivors = tried.filter(({ killer }) => killer === undefined);
  for (const file of files) {
    const [all, some, alive] = [made, tried, survivors].map((mutants) => count(mutants, file)) as [
      number,
      number,
      number,
    ];
    if (all > 0) row([file, all, some, some - alive, alive]);
  }
  row(["all", made.length, tried.length, tried.length - survivors.length, survivors.length]);
  for (const { file, line, change, tests } of survivors)
    console.log(`survives ${tests} tests: ${file}:${line}: ${change}`);
  keep(tried);
  return survivors.length === 0;
}

/**
 * The file that keeps which tests execute which mutants. Its name depends on everything that decides this, so that an
 * earlier run's file is used only if nothing has changed.
 */
function reachOf(tests: readonly string[]): string {
  const hash = createHash("sha256");
  const others = workspace.files("contracts/**/*.sol,src/**/*.ts,testkit/**/*.ts");
  for (const file of [...tests, ...others]) hash.update(`${file}\n${workspace.read(file)}`);
  return join(workspace.path, `reach-${hash.digest("hex").slice(0, 16)}.json`);
}

function keep(tried: readonly Tried[]): void {
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(tried, null, 2)}\n`);
}

/** The verdicts of an earlier run. */
function earlier(json: string | undefined): Tried[] {
  return json === undefined ? [] : (JSON.parse(readFileSync(json, "utf8")) as Tried[]);
}

/** Identifies a mutant, also when ids and lines have moved. */
function nameOf({ file, change, nth }: Mutant): string {
  return `${file}: ${change} (${nth})`;
}

/** Draws at most `count` of the mutants, the same for the same seed. */
function draw(mutants: readonly Mutant[], count: number, seed: number): Mutant[] {
  const key = ({ id }: Mutant): number => (Math.imul(id + seed * 7_919, 0x9e3779b1) >>> 0) / 2 ** 32;
  return [...mutants]
    .sort((a, b) => key(a) - key(b))
    .slice(0, count)
    .sort((a, b) => a.id - b.id);
}
