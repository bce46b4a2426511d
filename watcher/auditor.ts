import type { Execution } from "../src/chain/game/execution.ts";
import type { Executions } from "../src/chain/game/executions.ts";
import type { ClaimRecord, JobRecord } from "../src/chain/history.ts";

/** What re-executing a claim's job says of it. */
export type Verdict =
  { kind: "agrees" | "differs"; execution: Execution; milliseconds: number } | { kind: "unknown"; reason: string };

/** Re-executes a claim's job and compares the trace roots. @throws ExecutionInputError */
export async function audit(executions: Executions, job: JobRecord, { claim }: ClaimRecord): Promise<Verdict> {
  if (!executions.knows(job)) return { kind: "unknown", reason: "its program was not compiled here" };
  const start = performance.now();
  const execution = await executions.of(job);
  if (execution === undefined) return { kind: "unknown", reason: "its input bytes are not on chain" };
  const kind = execution.trace.root === claim.traceRoot ? "agrees" : "differs";
  return { kind, execution, milliseconds: Math.round(performance.now() - start) };
}
