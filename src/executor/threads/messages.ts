import type { PlanOptions } from "../plan/stepPlan.ts";
import type { Findings } from "../plan/planProgram.ts";
import type { HashLayout } from "./hashJob.ts";
import type { Program } from "../../program/types.ts";

/** What a worker is started with. */
export type WorkerStart = { control: SharedArrayBuffer; threads: number; thread: number };

/** A program that a team executes: everything that a plan for it is made from. */
export type TeamProgram = {
  program: Program;
  options: PlanOptions;
  findings: Findings;
  memory: WebAssembly.Memory;
  alwaysExact: boolean;
  /** For each step, the number of its parts; 1 where one thread does it all. */
  parts: readonly number[];
};

/** What a worker is told; `number` names a program. */
export type ToWorker =
  | ({ kind: "load"; number: number } & TeamProgram)
  | { kind: "unload"; number: number }
  /** What the units of hashing from `base` on are. */
  | { kind: "hash"; base: number; layout: HashLayout; buffer: ArrayBufferLike }
  | { kind: "end" };

/** What a worker tells: that it can compute a program, or why what it was doing did not come to an end. */
export type FromWorker = { loaded: number } | { reason: string };
