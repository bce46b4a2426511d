import { dirname, join } from "node:path/posix";
import { withViews, type Workspace } from "../../instrument/workspace.ts";
import { coinbaseOf } from "../alive.ts";
import type { Outcome } from "../onTests.ts";
import type { Mutant } from "../schemata.ts";
import { edit } from "./withBugs.ts";

const FOLDER = "test/contracts/solidity";
/** The worlds made by the tests. A world sets the coinbase, from which the contracts know the active mutant. */
const WORLDS = ["ProtocolWorld", "TicketsWorld", "ExamWorld"].map((name) => `${FOLDER}/${name}.t.sol`);
/** No mutant: nothing is reported under it either. */
const NOBODY = 2 ** 32;
/** The fixed sequences of calls come before the random ones. */
const SEQUENCES = ["test_", "invariant_"];

/** Prepares a copy's Solidity tests: an environment variable chooses the active mutant. */
export function prepareSolidity(workspace: Workspace): void {
  for (const file of workspace.files(`${FOLDER}/*.sol`)) {
    let text = withViews(workspace.read(file));
    if (file.endsWith("/Vm.sol"))
      text = edit(
        text,
        file,
        "function warp(",
        "function coinbase(address at) external;\n" +
          "    function envOr(string calldata name, uint256 otherwise) external view returns (uint256);\n" +
          "    function warp(",
      );
    if (WORLDS.includes(file))
      text = edit(
        text,
        file,
        "    constructor() {\n",
        '    constructor() {\n        vm.coinbase(address(uint160(vm.envOr("COINBASE", uint256(0)))));\n',
      );
    workspace.write(file, text);
  }
}

/**
 * Tries a built copy's mutants on the copy's Solidity tests. A mutant meets the tests whose imports reach the mutant's
 * contract, up to the first failing sequences.
 * @param over Called with each mutant and its outcome.
 * @throws Error if a test fails without a mutant, or no test reaches a mutant
 */
export async function tryOnSolidity<M extends Mutant>(
  workspace: Workspace,
  mutants: readonly M[],
  tests: readonly string[],
  over: (mutant: M, outcome: Outcome) => void,
): Promise<void> {
  const reached = new Map(tests.map((test) => [test, reachOf(workspace, test)]));
  const healthy = await failureOf(workspace, NOBODY, tests);
  if (healthy !== undefined) throw new Error(`fails without a mutant: ${healthy}`);
  for (const mutant of mutants) {
    const reaching = tests.filter((test) => reached.get(test)!.has(mutant.file));
    if (reaching.length === 0) throw new Error(`no test of ${tests.join(", ")} reaches ${mutant.file}`);
    const begun = performance.now();
    const killer = await failureOf(workspace, mutant.id, reaching);
    const milliseconds = Math.round(performance.now() - begun);
    over(mutant, { tests: reaching.length, milliseconds, ...(killer !== undefined && { killer }) });
  }
}

/** Returns a file with all files that the file imports or deploys, and their imports in turn. */
function reachOf(workspace: Workspace, first: string): ReadonlySet<string> {
  const files = new Set<string>();
  const take = (file: string): void => {
    if (files.has(file)) return;
    files.add(file);
    const text = workspace.read(file);
    for (const [, path] of text.matchAll(/^import [^"]*"(\.[^"]+)";/gm)) take(join(dirname(file), path!));
    for (const [, path] of text.matchAll(/"(contracts\/[^":]+\.sol):\w+"/g)) take(path!);
  };
  take(first);
  return files;
}

/**
 * Runs test files while a mutant is active.
 * @returns the first failing test; undefined if none fails
 * @throws Error if the tests do not run
 */
async function failureOf(workspace: Workspace, id: number, tests: readonly string[]): Promise<string | undefined> {
  const env = { COINBASE: BigInt(coinbaseOf(id)).toString(), REFUTE_AT_LENGTH: "true" };
  for (const words of SEQUENCES) {
    const lines: string[] = [];
    const args = ["test", "solidity", "--no-compile", "--grep", words, ...tests];
    const status = await workspace.run("hardhat", args, (line) => void lines.push(line), { env });
    if (status === 0) continue;
    const failure = lines.map((line) => /^\s+\d+\) (\w+)\(/.exec(line)?.[1]).find((name) => name !== undefined);
    if (failure === undefined) throw new Error(`the tests did not run:\n${lines.slice(-40).join("\n")}`);
    return failure;
  }
  return undefined;
}
