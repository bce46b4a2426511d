import type { MerkleList } from "../../merkle/list.ts";
import type { Execute } from "../../player/executeRun.ts";
import type { KnownProgram } from "../../player/execution.ts";
import { Trace } from "../../trace/trace.ts";
import type { SolveExam } from "./sitExam.ts";

/** Executes a program of the zoo on a seed. */
export function solver({ model }: KnownProgram, execute: Execute): SolveExam {
  const checkpoints = new Set(model.program.checkpoints.map(({ step }) => step));
  return async (seed) => {
    const trees = new Map<number, MerkleList>();
    const tensors = await execute(model, [seed], (step) => checkpoints.has(step), trees);
    return new Trace(model.program, tensors, trees).root;
  };
}
