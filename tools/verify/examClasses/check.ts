import { sha256 } from "../../../src/program/merkle/hash.ts";
import { DType, dtypeBytes, isFloat, readWord } from "../../../src/numerics/dtype.ts";
import { wordNumber } from "../../../src/numerics/numbers.ts";
import { FastExecutors } from "../../../src/runs/fastExecutors.ts";
import type { KnownProgram } from "../../../src/dispute/run/execution.ts";
import { solver } from "../../../src/attestation/exams/solve.ts";

/** What a program of a zoo gives for many nonces. */
type ClassCheck = {
  /** Different roots of traces, and different tensors of the last checkpoint. */
  roots: number;
  results: number;
  /** Nonces for which the last checkpoint has NaN. */
  nans: number;
  /** The median of an execution. */
  milliseconds: number;
};

/** Executes a program of a zoo on nonces. */
export async function checkClassProgram(program: KnownProgram, nonces: number): Promise<ClassCheck> {
  const { checkpoints, steps } = program.model.program;
  const last = checkpoints.at(-1)!.step;
  const { dtype } = steps[last]!;
  const [roots, results] = [new Set<string>(), new Set<string>()];
  const times: number[] = [];
  let nans = 0;
  const executors = new FastExecutors();
  const solve = solver(program, async (...args) => {
    const tensors = await executors.execute(...args);
    results.add(Buffer.from(sha256(tensors[last]!)).toString("hex"));
    if (hasNan(tensors[last]!, dtype)) nans++;
    return tensors;
  });
  try {
    for (let k = 0; k < nonces; k++) {
      const start = performance.now();
      roots.add(await solve(sha256(Uint8Array.of(k, k >>> 8))));
      times.push(performance.now() - start);
    }
  } finally {
    await executors.close();
  }
  const milliseconds = times.sort((a, b) => a - b)[Math.floor(nonces / 2)]!;
  return { roots: roots.size, results: results.size, nans, milliseconds };
}

function hasNan(bytes: Uint8Array, dtype: DType): boolean {
  if (!isFloat(dtype)) return false;
  for (let k = 0; k < bytes.length / dtypeBytes(dtype); k++)
    if (Number.isNaN(wordNumber(readWord(bytes, k, dtype), dtype))) return true;
  return false;
}
