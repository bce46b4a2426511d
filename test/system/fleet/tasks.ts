import type { TaskOutcome } from "../../../src/runs/fleet/task.ts";

/** An executor that is silent for so long is dead: short, so that tests are. */
export const LEASE_MS = 1_000;
/** The program of the task that ends executors. */
export const POISON = `0x${"dead".repeat(16)}` as const;

export const done = (executor: string): TaskOutcome => ({ executor, tensors: [] });
