import type { DirectCall } from "../kernels/direct/directKernels.ts";
import type { ProductKernels } from "../kernels/productKernels.ts";
import type { ReductionCall } from "./loops/reductions.ts";
import type { LoopCall } from "./loops/compile.ts";
import type { Views } from "./memory/views.ts";
import type { CertificateStats } from "./certificateStats.ts";
import type { MatMulEngine } from "./engine/matMulEngine.ts";
import type { StageClock } from "./stages.ts";

/** One thread's means of executing a plan: its loops, its engine, and which part of the work is its own. */
export type Machine = {
  memory: WebAssembly.Memory;
  views: Views;
  /** In the order in which the plan asked for them. */
  loops: readonly LoopCall[];
  reductions: readonly ReductionCall[];
  directs: readonly DirectCall[];
  engine: MatMulEngine;
  kernels: ProductKernels;
  /** Addresses of what settling elements needs: zeroed bytes, and four counts (see ProductKernels.settle). */
  settleScratch: number;
  settleStats: number;
  stats: CertificateStats;
  clock: StageClock;
  /** Whether every float32 sum is computed in integers, as if its error bound were never enough. */
  alwaysExact: boolean;
  /** Whether somebody alters tensors between steps; set before each job. */
  altering: { isOn: boolean };
  /** Which of the threads this is: what it needs for itself, no other touches. */
  thread: number;
  /** Which part of a step's work is meant, of how many. */
  part: number;
  parts: number;
};

/** Computes a step, or this thread's part of it; a promise only where the engine is asynchronous. */
export type Operation = () => void | Promise<void>;
