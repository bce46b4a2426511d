import { createExecutor } from "../../../../src/executor/createExecutor.ts";
import type { MatMulEngine } from "../../../../src/executor/engine/matMulEngine.ts";
import type { MerkleList } from "../../../../src/program/merkle/list.ts";
import type { Program } from "../../../../src/program/types.ts";
import { programWork } from "../../../../src/program/work.ts";
import type { WorstSubject } from "./subject.ts";

/** Work units a second, like the deployments' parameters (ignition/parameters). */
const RATE = 1e8;
/** Seconds for repeating a program. The least time counts, because other work on the machine only adds time. */
const ENOUGH_SECONDS = 0.2;
const MIN_RUNS = 3;
const MAX_RUNS = 8;

/**
 * One-core seconds taken by a program's slowest execution, and seconds allowed by the program's work; the first divided
 * by the second.
 */
export type Worst = { name: string; seconds: number; allowed: number; ratio: number };

/** Compares seconds with a program's work. */
export const against = (name: string, seconds: number, program: Pick<Program, "inputs" | "steps">): Worst => {
  const allowed = Number(programWork(program)) / RATE;
  return { name, seconds, allowed, ratio: seconds / allowed };
};

/** Returns the processor seconds taken by an action in this process. */
export async function processorSeconds(run: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

/** Executes a program on one thread and hashes its trace, with no error bound trusted. */
export async function measureWorst({ name, model, inputs }: WorstSubject, engine: MatMulEngine): Promise<Worst> {
  const executor = await createExecutor(model, { engine, alwaysExact: true });
  const run = () => executor.run(inputs, { keep: () => false, trees: new Map<number, MerkleList>() });
  let min = Infinity;
  let total = 0;
  for (let runs = 0; runs < MAX_RUNS && (runs < MIN_RUNS || total < ENOUGH_SECONDS); runs++) {
    const seconds = await processorSeconds(run);
    min = Math.min(min, seconds);
    total += seconds;
  }
  await executor.close();
  return against(name, min, model.program);
}
