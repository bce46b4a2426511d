import type { Hex } from "viem";
import type { NativeOptions } from "../src/runs/native/nativeJobs.ts";
import type { RoleOptions } from "../src/parties/role/role.ts";
import type { OutputSource, SnapshotSource, TensorSource } from "../src/program/trace/published.ts";
import type { WatcherEvent } from "./events.ts";
import type { ExamClaimContracts } from "../src/attestation/exams/openExamClaims.ts";

/** How a watcher runs. */
export type WatcherOptions = RoleOptions<WatcherEvent> & {
  /** Where workers' traces are published, if anywhere: disputes are then shorter. */
  tensors?: TensorSource | undefined;
  /** Where workers' outputs are published, if anywhere: texts are then checked faster. */
  outputs?: OutputSource | undefined;
  /** Where workers' snapshots of runs are published, if anywhere: a fleet then checks stretches side by side. */
  snapshots?: SnapshotSource | undefined;
  /** `watch` observes and reports, `defend` also opens and plays games. */
  mode: "watch" | "defend";
  /** How answers are judged without exact execution; none are if absent. */
  native?: NativeOptions | undefined;
  /** The only claims that are judged; all if absent. The set may change between rounds. */
  claims?: ReadonlySet<Hex>;
  /** How to audit exams with claims for wrong roots in this market; no audits if absent. */
  exams?: ExamAuditOptions | undefined;
};

/** How a watcher audits exams. */
export type ExamAuditOptions = {
  claimContracts: ExamClaimContracts;
  /** The share of results that are executed, 0 to 1. Which ones nobody else knows. */
  share: number;
};
