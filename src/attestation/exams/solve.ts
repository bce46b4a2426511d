import type { MerkleList } from "../../program/merkle/list.ts";
import type { KnownProgram } from "../../dispute/run/execution.ts";
import { Trace } from "../../program/trace/trace.ts";
import type { SolveExam } from "./sitExam.ts";
import type { Execute } from "../../runs/execute.ts";

/** Executes a program of the zoo on a seed. */
export function solver({ model }: KnownProgram, execute: Execute): SolveExam {
  const checkpoints = new Set(model.program.checkpoints.map(({ step }) => step));
  return async (seed) => {
    const trees = new Map<number, MerkleList>();
    const tensors = await execute(model, [seed], (step) => checkpoints.has(step), trees);
    return new Trace(model.program, tensors, trees).root;
  };
}
