import type { PlanOptions } from "../plan/stepPlan.ts";
import type { Findings } from "../plan/planProgram.ts";
import type { ProgramMemories } from "../memory/views.ts";
import type { HashLayout } from "./hashJob.ts";
import type { Program } from "../../program/types.ts";

/** The data that a worker starts with. */
export type WorkerStart = { control: SharedArrayBuffer; threads: number; thread: number };

/** A program for a team to execute, with everything needed to plan it. */
export type TeamProgram = {
  program: Program;
  options: PlanOptions;
  findings: Findings;
  memories: ProgramMemories;
  alwaysExact: boolean;
  checksAll: boolean;
  /** For each step, the number of its parts; 1 where one thread computes it all. */
  parts: readonly number[];
};

/** Messages to a worker; `number` identifies a program. */
export type ToWorker =
  | ({ kind: "load"; number: number } & TeamProgram)
  | { kind: "unload"; number: number }
  /** The job whose hashing units start at `base`. */
  | { kind: "hash"; base: number; layout: HashLayout; buffer: ArrayBufferLike }
  | { kind: "end" };

/** Messages from a worker: its ability to compute a program, an engine fault, or another reason for failure. */
export type FromWorker = { loaded: number } | { fault: string } | { reason: string };
