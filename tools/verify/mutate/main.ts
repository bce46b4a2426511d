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
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { Workspace } from "../instrument/workspace.ts";
import { readRecording } from "../replay/calls.ts";
import { filesOf, recorded, STATELESS } from "../replay/recorded.ts";
import { Replay } from "../replay/replay.ts";
import { replayMutants } from "./byReplay.ts";
import { prepare, reachOf, SWITCH, tryOnTests, type Outcome } from "./onTests.ts";
import { constantsOf, withMutants, type Mutant } from "./schemata.ts";
import { forGood } from "./yul.ts";

/** The folders whose contracts decide over money and verdicts. */
const PROTOCOL = [
  "vault/*.sol",
  "attestation/*.sol",
  "market/*.sol",
  "game/*.sol",
  "program/*.sol",
  "consumer/*.sol",
  "extras/panel/*.sol",
  "extras/tickets/*.sol",
  "extras/pledge/*.sol",
  "attestation/tdx/*.sol",
  "merkle/TensorTree.sol",
];
const VERIFIER = ["merkle/PositionalMerkle.sol", "verifier/*.sol", "verifier/elementary/*.sol"];
const TESTED = ["attestation", "consumer", "extras", "game", "market", "vault"];
const PROTOCOL_TESTS = TESTED.map((folder) => `test/contracts/${folder}/**/*.test.ts`);
/** Tests that compare what is burnt. The question which mutant is alive burns gas, so they would fail under any. */
const GAS_TESTS = /\/(economics|gasPrices|gasSchedule)\.test\.ts$/;

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

type Tried = Mutant & Outcome;

const survived = new Set(earlier(values.survivors).flatMap((v) => (v.killer === undefined ? [nameOf(v)] : [])));
const isWanted = (mutant: Mutant): boolean => values.survivors === undefined || survived.has(nameOf(mutant));
const workspace = new Workspace(values.in, values.survivors !== undefined || values.alone);
try {
  process.exitCode = (await mutate()) ? 0 : 1;
} finally {
  workspace.remove();
}

async function mutate(): Promise<boolean> {
  prepare(workspace);
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
    else if (held.length > 0) workspace.writeContract(file, source, SWITCH);
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
  const reach = reachOf(workspace, files);
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

/** Tries mutants on tests. */
async function run(
  mutants: readonly Mutant[],
  files: readonly string[],
  before: readonly Tried[] = [],
  reach = reachOf(workspace, files),
): Promise<Tried[]> {
  const done: Tried[] = [];
  const order = { files, tries: Number(values.tries), all: values.alone, reach };
  const killers = before.flatMap(({ killer }) => killer ?? []);
  await tryOnTests(workspace, mutants, order, killers, (mutant, outcome) => {
    done.push({ ...mutant, ...outcome });
    if (outcome.killer === undefined)
      console.log(`survives ${outcome.tests} tests: ${mutant.file}:${mutant.line}: ${mutant.change}`);
    if (done.length % 10 !== 0) return;
    const each = Math.round(done.reduce((sum, one) => sum + one.milliseconds, 0) / done.length);
    console.log(`${done.length} of ${mutants.length} tried, last of ${mutant.id} made, ${each} ms each`);
    keep([...before, ...done]);
  });
  return done;
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
