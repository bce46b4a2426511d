import type { DirectCall } from "../numerics/kernels/direct/directKernels.ts";
import type { ProductKernels } from "../numerics/kernels/productKernels.ts";
import type { ReductionCall } from "./loops/reductions.ts";
import type { LoopCall } from "./loops/compile.ts";
import type { Views } from "./memory/views.ts";
import type { CertificateStats } from "./certificateStats.ts";
import type { MatMulEngine } from "./engine/matMulEngine.ts";
import type { SpotChecks } from "./spotChecks.ts";
import type { StageClock } from "./stages.ts";

/** Everything with which one thread executes a plan: its loops, its engine, and its part of the work. */
export type Machine = {
  memory: WebAssembly.Memory;
  views: Views;
  /** The memories that constants are read from besides, from number 1 on. */
  farViews: readonly Views[];
  /** In the order in which the plan requested them. */
  loops: readonly LoopCall[];
  reductions: readonly ReductionCall[];
  directs: readonly DirectCall[];
  engine: MatMulEngine;
  kernels: ProductKernels;
  /** Addresses for settling elements: zeroed bytes, and four counts (see ProductKernels.settle). */
  settleScratch: number;
  settleStats: number;
  stats: CertificateStats;
  clock: StageClock;
  /** Chooses which results of the engine are checked. */
  checks: SpotChecks;
  /** Whether every float32 sum is computed in integers, as if its error bound never settled it. */
  alwaysExact: boolean;
  /** Whether the caller alters tensors between steps; set before each job. */
  altering: { isOn: boolean };
  /** The number of this thread; it selects the buffers that only this thread uses. */
  thread: number;
  /** The number of this part of a step's work, and the number of parts. */
  part: number;
  parts: number;
};

/** Computes a step, or this thread's part of it; a promise only where the engine is asynchronous. */
export type Operation = () => void | Promise<void>;
