import type { DirectCall } from "../numerics/kernels/direct/directKernels.ts";
import type { ProductKernels } from "../numerics/kernels/productKernels.ts";
import type { ReductionCall } from "./loops/reductions.ts";
import type { LoopCall } from "./loops/compile.ts";
import type { Views } from "./memory/views.ts";
import type { CertificateStats } from "./certificateStats.ts";
import type { MatMulEngine } from "./engine/matMulEngine.ts";
import type { SpotChecks } from "./spotChecks.ts";
import type { StageClock } from "./stages.ts";

/** One thread's means for executing a plan: loops, engine, and the thread's part of the work. */
export type Machine = {
  memory: WebAssembly.Memory;
  views: Views;
  /** The memories that constants are read from besides, from number 1 on. */
  farViews: readonly Views[];
  /** Loops in the plan's order of requests. */
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
  /** If true, every float32 sum is computed in integers, as though no error bound settled any sum. */
  alwaysExact: boolean;
  /** Whether the caller alters tensors between steps; set before each job. */
  altering: { isOn: boolean };
  /** This thread's number, selecting the thread's own buffers. */
  thread: number;
  /** The part's number within a step's work, and the count of all parts. */
  part: number;
  parts: number;
};

/** Computes a step, or this thread's part; returns a promise only if the engine works asynchronously. */
export type Operation = () => void | Promise<void>;
