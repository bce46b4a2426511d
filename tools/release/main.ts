/**
 * Prints the changes since the last release, and whether CHANGELOG.md names them. `--record` records the present state
 * as the release with package.json's version.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { flag, readOptions } from "../options.ts";
import { changelogSection, changesSince, KINDS, problemsOf } from "./compare.ts";
import { judgeName, viewOf } from "./name.ts";
import { currentState, type ReleaseRecord } from "./state.ts";

const RECORD = "test/golden/release.json";

const values = readOptions({ record: flag("record this state as the release of package.json's version") });
const { name, version, bin } = JSON.parse(readFileSync("package.json", "utf8")) as {
  name: string;
  version: string;
  bin: Record<string, string>;
};
const changelog = readFileSync("CHANGELOG.md", "utf8");
const last = JSON.parse(readFileSync(RECORD, "utf8")) as ReleaseRecord;
const now = currentState();

if (values.record) record();
else check();

function check(): void {
  const changes = changesSince(last, now);
  for (const kind of KINDS) {
    const lines = changes.filter((change) => change.kind === kind).map(({ what }) => `  ${what}`);
    console.log(`${kind}: ${lines.length === 0 ? "as" : `${lines.length} changes since`} in ${last.version}`);
    for (const line of lines) console.log(line);
  }
  const problems = problemsOf(last, now, changes, changelogSection(changelog, "Unreleased"), "Unreleased");
  report([...problems, ...nameProblems()]);
}

/** Prints what the registry knows of the package's name. @returns The problem with the name; none for a free name */
function nameProblems(): string[] {
  const { kind, what } = judgeName(name, Object.keys(bin)[0]!, viewOf(name));
  if (kind === "anothers") return [what];
  console.log(`Name: ${what}`);
  return [];
}

function record(): void {
  const changes = changesSince(last, now);
  const problems = [
    ...problemsOf(last, now, changes, changelogSection(changelog, version), version),
    ...nameProblems(),
  ];
  report(problems);
  if (problems.length > 0) return;
  writeFileSync(RECORD, `${JSON.stringify({ version, ...now }, null, 2)}\n`);
  console.log(`${RECORD} records version ${version}`);
}

function report(problems: readonly string[]): void {
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}
