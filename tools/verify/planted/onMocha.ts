import { readFileSync } from "node:fs";
import { Workspace } from "../instrument/workspace.ts";
import { digestOf, prepare, reachOf, SWITCH, tryOnTests } from "../mutate/onTests.ts";
import { withBugs } from "./apply.ts";
import type { Bug } from "./bug.ts";
import { SIGNED_BUGS } from "./bugs.ts";
import { Findings } from "./findings.ts";

const TESTS = ["contracts/attestation/tdx", "contracts/attestation", "attestation/tdx"].map(
  (folder) => `test/${folder}/*.test.ts`,
);

/**
 * Tries bugs in what takes signatures, on the tests in TypeScript, as mutants are tried: a bug meets the tests that
 * execute it, up to the first that fails.
 * @param options folder: of the copy, which is then kept.
 */
export async function tryOnMocha(
  isWanted: (bug: Bug) => boolean,
  { folder, log }: { folder: string | undefined; log: string | undefined },
): Promise<Findings> {
  const workspace = new Workspace(folder);
  try {
    prepare(workspace);
    for (const file of new Set(SIGNED_BUGS.map((bug) => bug.file))) {
      const text = withBugs(readFileSync(file, "utf8"), file, SIGNED_BUGS, SWITCH);
      // Whoever asks which bug is active reads the chain, which pure functions may not.
      workspace.write(file, text.replace(/\bpure\b/g, "view"));
    }
    const files = workspace.files(TESTS.join(","));
    const findings = new Findings(log, digestOf(workspace, files));
    const bugs = findings.left(SIGNED_BUGS.map((bug, index) => ({ ...bug, id: index + 1 })).filter(isWanted));
    await workspace.build();
    const order = { files, tries: Number.MAX_SAFE_INTEGER, all: false, reach: reachOf(workspace, files) };
    await tryOnTests(workspace, bugs, order, [], (bug, { killer }) => findings.add(bug, killer));
    return findings;
  } finally {
    workspace.remove();
  }
}
