/**
 * Mutation testing for the contracts: small changes, one at a time, for a test to notice. With `--planted`, realistic
 * bugs in place of small changes.
 */
import { chosen, file, flag, list, readOptions, text, UsageError, whole } from "../../options.ts";
import { Workspace } from "../instrument/workspace.ts";
import { readRecording } from "../replay/calls.ts";
import { filesOf, recorded, STATELESS } from "../replay/recorded.ts";
import { Replay } from "../replay/replay.ts";
import { replayMutants } from "./byReplay.ts";
import { constantsIn, draw } from "./draw.ts";
import { prepare, reachOf, SWITCH, tryOnTests } from "./onTests.ts";
import { tryPlanted } from "./planted/tryPlanted.ts";
import { withMutants, type Mutant } from "./schemata.ts";
import {
  hasSurvived,
  keepVerdicts,
  nameOf,
  readVerdicts,
  report,
  survivorLine,
  withoutKnown,
  type Tried,
} from "./verdicts.ts";
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
  "extras/proofs/*.sol",
  "attestation/tdx/*.sol",
  "merkle/TensorTree.sol",
];
const VERIFIER = ["merkle/PositionalMerkle.sol", "verifier/*.sol", "verifier/elementary/*.sol"];
const TESTED = ["attestation", "consumer", "extras", "game", "market", "vault"];
const PROTOCOL_TESTS = TESTED.map((folder) => `test/contracts/${folder}/**/*.test.ts`);
/** Tests that compare burnt gas. Finding the active mutant burns gas, and the tests would fail under any mutant. */
const GAS_TESTS = /\/(economics|gasPrices|gasSchedule)\.test\.ts$/;

const FINDERS = { solidity: "solidity", mocha: "mocha" } as const;

const values = readOptions({
  files: text("globs of contracts, below contracts", [...PROTOCOL, ...VERIFIER].join(",")),
  tests: text(`globs of tests; by default ${PROTOCOL_TESTS.join(",")}`),
  wider: text("globs of tests that run only for mutants that survive --tests", ""),
  max: whole("the maximum number of mutants of each file, drawn by the seed", 1_000_000),
  seed: whole("seed of what is drawn", 1),
  tries: whole("the maximum number of tests that a mutant is tried on", 1_000_000),
  calls: file("a file that keeps the recorded calls for contracts without state"),
  json: file("a file for the verdicts"),
  resume: file("takes over the verdicts in an earlier run's JSON, also where lines have moved"),
  survivors: file("tries the survivors in an earlier run's JSON on all tests, in a build that is optimised as usual"),
  alone: flag("a build of its own for each mutant, which takes minutes each, for tests of exact gas"),
  in: file("a folder that keeps the copy and its build for the next run"),
  planted: flag("realistic bugs in place of small changes"),
  by: list("what must find planted bugs: random sequences of calls, tests in TypeScript", Object.keys(FINDERS)),
  only: text("words of planted bugs, separated by semicolons", ""),
});

if (values.planted) {
  const by = chosen(values.by, FINDERS, "finder").map(([, finder]) => finder);
  process.exit((await tryPlanted({ ...values, by })) ? 0 : 1);
}

const TESTS = values.tests ?? PROTOCOL_TESTS.join(",");
const survived = new Set(readVerdicts(values.survivors).flatMap((v) => (hasSurvived(v) ? [nameOf(v)] : [])));
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
  keepVerdicts(values.json, tried);
  return report(made, tried);
}

/** Adds the wanted mutants to the contracts. */
function addMutants(files: readonly string[], firstId: number, wanted: (mutant: Mutant) => boolean): Mutant[] {
  const made: Mutant[] = [];
  const constants = constantsIn(workspace);
  for (const file of files) {
    const id = firstId + made.length;
    const alive = values.alone ? () => "true" : undefined;
    const { source, mutants } = withMutants(file, workspace.read(file), id, constants(file), wanted, alive);
    made.push(...mutants);
    const held = mutants.filter(wanted);
    if (values.alone) for (const { id } of held) workspace.write(file, forGood(source, id));
    else if (held.length > 0) workspace.writeContract(file, source, SWITCH);
  }
  return made;
}

/** Returns the mutants with a known verdict, and the mutants to try. */
function choose(files: readonly string[], made: readonly Mutant[]): { over: Tried[]; drawn: Mutant[] } {
  const { known, left } = withoutKnown(made, values.resume);
  const wanted = left.filter(isWanted);
  const of = (file: string) => wanted.filter((mutant) => mutant.file === file);
  return { over: known, drawn: files.flatMap((file) => draw(of(file), values.max, values.seed)) };
}

/** Tries mutants of the protocol: the tests run again. */
async function tryByTests(drawn: readonly Mutant[], before: readonly Tried[]): Promise<Tried[]> {
  await workspace.build();
  // A survivors-only build is optimised normally, because finding the active mutant costs little there.
  const countsGas = values.survivors !== undefined;
  const files = (globs: string) => workspace.files(globs).filter((file) => countsGas || !GAS_TESTS.test(file));
  const tests = files(TESTS);
  if (tests.length === 0) throw new UsageError(`--tests ${TESTS}: no test file (a comma ends a pattern)`);
  const tried = await run(drawn, tests, before);
  if (values.wider === "") return tried;
  const survivors = tried.filter(hasSurvived);
  const again = await run(survivors, files(values.wider));
  return tried.map((mutant) => again.find(({ id }) => id === mutant.id) ?? mutant);
}

/** Tries each mutant in a separate build, on all tests, because the executing tests are unknown. */
async function tryAlone(drawn: readonly Mutant[], before: readonly Tried[]): Promise<Tried[]> {
  const files = workspace.files(TESTS);
  const reach = reachOf(workspace, files);
  await workspace.build();
  await run([], files, [], reach);
  const tried: Tried[] = [];
  for (const mutant of drawn) {
    const original = workspace.read(mutant.file);
    addMutants([mutant.file], 1, (other) => nameOf(other) === nameOf(mutant));
    await workspace.build();
    tried.push(...(await run([mutant], files, [...before, ...tried], reach)));
    keepVerdicts(values.json, [...before, ...tried]);
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
  const verdicts = await replayMutants(new Replay(workspace, recording), recording, ids, values.seed);
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
  const order = { files, tries: values.tries, all: values.alone, reach };
  const killers = before.flatMap(({ killer }) => killer ?? []);
  await tryOnTests(workspace, mutants, order, killers, (mutant, outcome) => {
    done.push({ ...mutant, ...outcome });
    if (hasSurvived(outcome)) console.log(survivorLine({ ...mutant, ...outcome }));
    if (done.length % 10 !== 0) return;
    const each = Math.round(done.reduce((sum, one) => sum + one.milliseconds, 0) / done.length);
    console.log(`${done.length} of ${mutants.length} tried, last of ${mutant.id} made, ${each} ms each`);
    keepVerdicts(values.json, [...before, ...done]);
  });
  return done;
}
