import { createHash } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Workspace } from "../instrument/workspace.ts";
import type { Plan, Report } from "./workOrder.ts";

/** The copy's library that knows the active mutant. */
export const SWITCH = { name: "Mutants", file: "contracts/test/Mutants.sol" };
/** Seconds until a mutant's test counts as endless, even on a busy machine. */
const QUIET_SECONDS = 300;

/** @param killer The test that failed. @param tests How many execute the mutant. */
export type Outcome = { killer?: string; tests: number; milliseconds: number };

/** Prepares a copy with mutants in its contracts: the library, and test worlds serving many mutants. */
export function prepare(workspace: Workspace): void {
  workspace.addLibrary(SWITCH.file, "tools/verify/mutate/Mutants.sol");
  workspace.write(
    "testkit/protocol/useWorld.ts",
    workspace
      .read("tools/verify/mutate/useWorld.ts")
      .replace("../../../testkit/protocol/", "./")
      .replace("./alive", "../../tools/verify/mutate/alive"),
  );
}

/** Returns a digest over all sources that decide the mutants executed by each test. */
function digestOf(workspace: Workspace, tests: readonly string[]): string {
  const hash = createHash("sha256");
  const others = workspace.files("contracts/**/*.sol,src/**/*.ts,testkit/**/*.ts");
  for (const file of [...tests, ...others]) hash.update(`${file}\n${workspace.read(file)}`);
  return hash.digest("hex").slice(0, 16);
}

/** The file with the mutants executed by each test: an earlier run's file is used only if nothing has changed. */
export const reachOf = (workspace: Workspace, tests: readonly string[]): string =>
  join(workspace.path, `reach-${digestOf(workspace, tests)}.json`);

/**
 * Tries a built copy's mutants on the copy's tests. A mutant that hangs the runner is killed; a new runner goes on with
 * the next mutant.
 * @param order The runner's further orders.
 * @param killers The tests that killed other mutants, once per killed mutant.
 * @param over Called with each mutant and its outcome, in mutant order.
 * @throws Error if the tests do not run.
 */
export async function tryOnTests<M extends { id: number }>(
  workspace: Workspace,
  mutants: readonly M[],
  order: Omit<Plan, "mutants" | "killers">,
  killers: readonly string[],
  over: (mutant: M, outcome: Outcome) => void,
): Promise<void> {
  const planFile = join(workspace.path, "plan.json");
  const killed = [...killers];
  let left = mutants;
  const end = (mutant: M, outcome: Outcome): void => {
    left = left.filter((other) => other !== mutant);
    if (outcome.killer !== undefined) killed.push(outcome.killer);
    over(mutant, outcome);
  };
  for (;;) {
    // Where all mutants are to meet all tests, these run once without a mutant, to find those that fail then.
    if (left.length === 0 && !(order.all && !existsSync(order.reach))) return;
    const plan: Plan = { ...order, mutants: left.map(({ id }) => id), killers: killed };
    writeFileSync(planFile, JSON.stringify(plan));
    let current: M | undefined;
    const other: string[] = [];
    const status = await workspace.run(
      "node",
      ["tools/verify/mutate/runner.ts", planFile],
      (line) => {
        if (!line.startsWith("@{")) return void other.push(line);
        const message = JSON.parse(line.slice(1)) as Report;
        if (message.kind === "fails") return console.log(`decides nothing: ${message.title}: ${message.message}`);
        current = left.find(({ id }) => id === message.id);
        if (message.kind === "begins" || current === undefined) return;
        const { killer, tests, milliseconds } = message;
        end(current, { tests, milliseconds, ...(killer === undefined ? {} : { killer }) });
        current = undefined;
      },
      { quietSeconds: QUIET_SECONDS },
    );
    if (current !== undefined) end(current, { tests: 0, milliseconds: QUIET_SECONDS * 1_000, killer: "no end" });
    else if (status !== 0) throw new Error(`the runner failed:\n${other.slice(-40).join("\n")}`);
  }
}
