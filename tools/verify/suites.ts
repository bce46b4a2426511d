/** How long suites take: the first folder below `test` of each file, and what else a run does. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The files that `npm test` leaves to `npm run verify -- length`: each takes long, and others in its folder play the
 * same code. Files that are played in part by both use testkit/atLength.ts.
 */
export const WHOLLY_AT_LENGTH: readonly string[] = [
  "test/adversaries/callbacks.test.ts",
  "test/adversaries/censorship.test.ts",
  "test/adversaries/jobs.test.ts",
  "test/adversaries/pool.test.ts",
  "test/adversaries/reorgs.test.ts",
  "test/adversaries/training.test.ts",
  "test/adversaries/workers.test.ts",
  "test/cli/audit.test.ts",
  "test/cli/escapes.test.ts",
  "test/cli/tdx.test.ts",
  "test/cli/text.test.ts",
  "test/cli/tickets.test.ts",
  "test/compiler/fuzz.test.ts",
  "test/compiler/gradients/gradients.test.ts",
  "test/compiler/llama.test.ts",
  "test/compiler/miniLm.test.ts",
  "test/compiler/operators/forest.test.ts",
  "test/compiler/operators/operatorsExecutor.test.ts",
  "test/compiler/operators/otherFloats.test.ts",
  "test/compiler/passes/provable/parts.test.ts",
  "test/compiler/wraps/withDrawnInputs.test.ts",
  "test/contracts/game/proofGas.test.ts",
  "test/contracts/market/economics.test.ts",
  "test/contracts/market/runOutputs.test.ts",
  "test/contracts/verifier/packedWeights.test.ts",
  "test/deploy/network/deploy.test.ts",
  "test/e2e/answers.test.ts",
  "test/e2e/native.test.ts",
  "test/e2e/panels.test.ts",
  "test/e2e/publishedTrace.test.ts",
  "test/e2e/runs.test.ts",
  "test/executor/gpu/functions.test.ts",
  "test/executor/modelBits.test.ts",
  "test/executor/plan/joined.test.ts",
  "test/executor/plan/vectorProducts.test.ts",
  "test/executor/realModel.test.ts",
  "test/executor/threads/hashing.test.ts",
  "test/model/decision/models.test.ts",
  "test/models/answers.test.ts",
  "test/models/everyModel.test.ts",
  "test/models/exports.test.ts",
  "test/models/operatorAudit.test.ts",
  "test/numerics/floats.test.ts",
  "test/numerics/kernels/elementary/elementary.test.ts",
  "test/parties/dispatcher/dispatcher.test.ts",
  "test/parties/requester/postBlobs.test.ts",
  "test/parties/requester/seatJudge.test.ts",
  "test/parties/role/readiness.test.ts",
  "test/parties/tickets/kills.test.ts",
  "test/parties/worker/attestation.test.ts",
  "test/parties/worker/examGames.test.ts",
  "test/parties/worker/exams.test.ts",
  "test/tools/training.test.ts",
  "test/watcher/exams.test.ts",
];

type Times = ReadonlyMap<string, number>;

/**
 * Seconds for a suite, all files together, before a warning is printed: three times the duration on an idle machine
 * with two cores. A suite above its budget needs fewer or lighter tests, or a reasoned new budget.
 */
const BUDGETS: Readonly<Record<string, number>> = {
  ...{ adversaries: 320, attestation: 70, base: 30, chain: 240, cli: 500, compiler: 520, contracts: 770, deploy: 160 },
  ...{ dispute: 90, docs: 60, e2e: 180, examine: 90, executor: 770, model: 60, models: 180, native: 60 },
  ...{ numerics: 160, package: 60, parties: 340, program: 60, runs: 340, soak: 60, tools: 90, watcher: 60, web: 60 },
  ...{ "(contracts)": 600, "(dist)": 160 },
};

/** Has the times of a run noted in a folder: by `run` (tools/verify/totals.ts) and by mocha (testkit/mochaHooks.ts). */
export function noteTimes(folder: string): string {
  const file = join(folder, "times.jsonl");
  process.env.REFUTE_SUITE_TIMES = file;
  return file;
}

/** The suite of a file of tests; other names stand for themselves. */
const suiteOf = (name: string): string =>
  name.endsWith(".ts") ? (/^test\/([^/]+)\//.exec(name)?.[1] ?? "test") : name;

/** Seconds of each suite that ran. */
export function suiteSeconds(timesFile: string): Map<string, number> {
  const seconds = new Map<string, number>();
  if (!existsSync(timesFile)) return seconds;
  for (const line of readFileSync(timesFile, "utf8").trim().split("\n")) {
    const { name, milliseconds } = JSON.parse(line) as { name: string; milliseconds: number };
    const suite = suiteOf(name.replaceAll("\\", "/"));
    seconds.set(suite, (seconds.get(suite) ?? 0) + milliseconds / 1_000);
  }
  return seconds;
}

/** A table, the longest first, and a warning for each suite above its budget. */
export function suiteTable(seconds: Times): string {
  const rows = [...seconds].sort(([, a], [, b]) => b - a).map(([suite, took]) => row(suite, took));
  const total = [...seconds.values()].reduce((sum, took) => sum + took, 0);
  return ["suite              minutes   budget", ...rows, row("all", total)].join("\n");
}

function row(suite: string, seconds: number): string {
  const budget = BUDGETS[suite];
  const [minutes, allowed] = [seconds, budget].map((each) => (each === undefined ? "" : (each / 60).toFixed(1)));
  const warning = budget !== undefined && seconds > budget ? "   warning: over its budget" : "";
  return `${suite.padEnd(18)} ${minutes!.padStart(7)} ${allowed!.padStart(8)}${warning}`;
}
