import type { DirectCall } from "../../kernels/direct/directKernels.ts";
import type { ProductKernels } from "../../kernels/productKernels.ts";
import type { ReductionCall } from "../loops/reductions.ts";
import type { LoopCall } from "../loops/compile.ts";
import type { Views } from "../memory/views.ts";
import type { CertificateStats } from "../product/certificate.ts";
import type { MatMulEngine } from "../product/matMulEngine.ts";
import type { StageClock } from "../stages.ts";

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
  isDoubtful: boolean;
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

/** How a step is computed, once everything has its address. */
export type StepPlan = {
  /** Whether its parts can be computed at the same time, in any order; else one thread does it all. */
  shared: boolean;
  /** A rough figure for a term of a reduction, where it is not {@link TERM_NS}. */
  termNanoseconds?: number;
  /** Work before the first job: weights in the form that products want. */
  prepare?: ((machine: Machine) => void) | undefined;
  bind(machine: Machine): Operation;
};

/** What a term of a reduction takes in a loop, roughly. */
export const TERM_NS = 0.4;

/** What plans depend on besides the program. */
export type PlanOptions = {
  /** Terms from which a matrix product is handed to the engine; 0 hands over all. */
  leastEngineWork: number;
  /** Elements of a product's or reduction's terms that are gathered at a time, where its shape allows to cut: bounds memory. */
  chunkElements: number;
  threads: number;
};

/** Cuts `first .. end - 1` into ranges of at most `length`. */
export function* ranges(first: number, end: number, length: number): Generator<[start: number, end: number]> {
  for (let start = first; start < end; start += length) yield [start, Math.min(end, start + length)];
}

/** Part `part` of `parts` of `0 .. radix - 1`. */
export const partOf = (radix: number, { part, parts }: { part: number; parts: number }): [number, number] => [
  Math.floor((radix * part) / parts),
  Math.floor((radix * (part + 1)) / parts),
];
