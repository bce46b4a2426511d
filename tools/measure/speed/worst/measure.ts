import { createExecutor } from "../../../../src/executor/createExecutor.ts";
import type { MatMulEngine } from "../../../../src/executor/engine/matMulEngine.ts";
import type { MerkleList } from "../../../../src/program/merkle/list.ts";
import type { Program } from "../../../../src/program/types.ts";
import { programWork } from "../../../../src/program/work.ts";
import type { WorstSubject } from "./subject.ts";

/** Units of work a second, as the parameters of deployments have it (ignition/parameters). */
const RATE = 1e8;
/** A program is run again for this long, and the least time counts: what else the machine does only adds to it. */
const ENOUGH_SECONDS = 0.2;
const MIN_RUNS = 3;
const MAX_RUNS = 8;

/** Seconds of one core that a program's slowest execution takes, and that its work allows; the first by the second. */
export type Worst = { name: string; seconds: number; allowed: number; ratio: number };

/** Compares seconds with a program's work. */
export const against = (name: string, seconds: number, program: Pick<Program, "inputs" | "steps">): Worst => {
  const allowed = Number(programWork(program)) / RATE;
  return { name, seconds, allowed, ratio: seconds / allowed };
};

/** The seconds of processor time that something takes in this process. */
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
