/**
 * Measures the contract lines executed by the TypeScript tests, and the ways taken at each condition. Recorded calls to
 * contracts without state are replayed; for the other contracts the tests run.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { file, readOptions, text } from "../../options.ts";
import { Workspace } from "../instrument/workspace.ts";
import { readRecording } from "../replay/calls.ts";
import { listen } from "../replay/listen.ts";
import { recorded } from "../replay/recorded.ts";
import { Replay } from "../replay/replay.ts";
import { withPoints, type Point } from "./points.ts";

const LIBRARY = "contracts/test/Coverage.sol";
const PROTOCOL = [
  ...["market", "game", "vault", "attestation", "consumer", "examples"],
  ...["extras/panel", "extras/pledge", "attestation/tdx", "extras/tickets"],
];
const FILES = [...PROTOCOL, "program", "merkle", "types", "verifier", "verifier/elementary"].map(
  (folder) => `${folder}/*.sol`,
);
const TESTS = [
  ...PROTOCOL.map((folder) => `test/contracts/${folder}/**/*.test.ts`),
  "test/attestation/*.test.ts",
  "test/e2e/dapp.test.ts",
];

/** How many calls of a test each round replays. A test ends after a round that executes nothing new. */
const ROUNDS = [32, 64, 256, 1_024];
const NOBODY = "0x0000000000000000000000000000000000000000";

const values = readOptions({
  files: text("globs of contracts, below contracts", FILES.join(",")),
  tests: text("globs of tests", TESTS.join(",")),
  calls: file("a file of recorded calls; made if it is not there"),
  json: file("a file for the points"),
  in: file("a folder that keeps the compiled copy"),
});

const workspace = new Workspace(values.in);
try {
  await cover();
} finally {
  workspace.remove();
}

async function cover(): Promise<void> {
  const recording = readRecording(await recorded(workspace.path, values.calls));
  const points: Point[] = [];
  workspace.addLibrary(LIBRARY, "tools/verify/coverage/Coverage.sol");
  for (const file of workspace.files(values.files.replace(/^|,/g, "$&contracts/"))) {
    const { source, points: more } = withPoints(file, workspace.read(file), points.length + 1);
    if (more.length === 0) continue;
    points.push(...more);
    workspace.writeContract(file, source, { name: "Coverage", file: LIBRARY });
  }
  console.log(`${points.length} points; building`);
  await workspace.build();
  const tests = workspace.files(values.tests);
  const output = join(workspace.path, "passed.json");
  const lines: string[] = [];
  const status = await workspace.run("node", ["tools/verify/coverage/runner.ts", output, ...tests], (line) => {
    lines.push(line);
    // Gas and size tests may fail because of the added code.
    if (line.startsWith("@")) console.log(`fails with the added code: ${line.slice(1)}`);
  });
  if (status !== 0) throw new Error(`the tests did not end:\n${lines.slice(-40).join("\n")}`);
  const passed = new Set(JSON.parse(readFileSync(output, "utf8")) as number[]);
  await listen(new Replay(workspace, recording), recording, NOBODY, 1, ROUNDS, ({ call, gas, places }) => {
    if (gas === 0n) console.log(`another outcome with the added code: ${recording.calls[call]!.test}`);
    const before = passed.size;
    for (const id of places) passed.add(id);
    return passed.size > before;
  });
  report(points, passed);
}

/** Prints executed and existing lines and branches. A line counts if all its statements are executed. */
function report(points: readonly Point[], passed: ReadonlySet<number>): void {
  const row = (name: string, [lines, branches]: readonly [string, string]) =>
    console.log(`${name.padEnd(48)}${lines.padStart(16)}${branches.padStart(18)}`);
  const share = (hit: number, all: number): string =>
    all === 0 ? "-" : `${((100 * hit) / all).toFixed(1)} % ${hit}/${all}`;
  const measure = (of: readonly Point[]): [string, string] => {
    const place = ({ file, line }: Point) => `${file}:${line}`;
    const statements = of.filter(({ branch }) => !branch);
    const lines = new Set(statements.map(place));
    const missed = new Set(statements.filter(({ id }) => !passed.has(id)).map(place));
    const branches = of.filter(({ branch }) => branch);
    return [
      share(lines.size - missed.size, lines.size),
      share(branches.filter(({ id }) => passed.has(id)).length, branches.length),
    ];
  };
  row("contract", ["lines", "branches"]);
  for (const file of new Set(points.map((point) => point.file)))
    row(file, measure(points.filter((point) => point.file === file)));
  row("all", measure(points));
  for (const { id, file, line, what } of points)
    if (!passed.has(id)) console.log(`not covered: ${file}:${line}: ${what}`);
  if (values.json !== undefined) {
    const rows = points.map((point) => ({ ...point, passed: passed.has(point.id) }));
    writeFileSync(values.json, `${JSON.stringify(rows)}\n`);
  }
}
