import { openGpu, type Gpu } from "../../../src/executor/gpu/device.ts";
import {
  compareExperiment,
  compareNearPoint,
  compareRandomProgram,
  compareStrided,
  EXPERIMENTS,
  NEAR_POINTS,
  STRIDED,
} from "../../../testkit/gpu/comparePrograms.ts";
import { chosen } from "../../options.ts";

/** What is compared by number, from 1 to `last`: the counts of what was compared. */
type Comparison = { last: number; compare: (number: number, gpu: Gpu) => Promise<Readonly<Record<string, number>>> };

const steps = ({ onGpu, onCpu }: { onGpu: number; onCpu: number }): Record<string, number> => ({
  ...{ "steps on the GPU": onGpu, "on the CPU": onCpu },
});

const COMPARISONS: Readonly<Record<string, Comparison>> = {
  programs: { last: Infinity, compare: async (seed, gpu) => steps(await compareRandomProgram(seed, gpu)) },
  experiments: {
    last: EXPERIMENTS.length,
    compare: async (number, gpu) => steps(await compareExperiment(number, gpu)),
  },
  points: { last: NEAR_POINTS, compare: async (number, gpu) => ({ inputs: await compareNearPoint(number, gpu) }) },
  strided: { last: STRIDED, compare: async (number, gpu) => ({ inputs: await compareStrided(number, gpu) }) },
};

/** Kernels are kept by the open GPU: after so many numbers, the GPU is opened anew. */
const NUMBERS_OF_A_GPU = 20;

/** The line of progress comes after so many milliseconds. */
const PROGRESS_MS = 30_000;

/**
 * Compares what a GPU computes with the definition, number by number. A campaign that was stopped goes on with the
 * number after the last printed one.
 * @param kind programs, experiments, points or strided: random programs by their seeds, experiments of the operators'
 *   tests, functions near the points where results are exact or hard, functions on one input of 256.
 * @returns whether all bits are the definition's; differences are printed with the number
 * @throws UsageError for another kind
 */
export async function soakGpu(kind: string, first: number, count: number): Promise<boolean> {
  const [[, { last, compare }]] = chosen([kind], COMPARISONS, "comparison") as [[string, Comparison]];
  const totals = new Map<string, number>();
  const until = Math.min(last + 1, first + count);
  let wrong = 0;
  let printed = Date.now();
  let gpu: Gpu | undefined;
  const print = (next: number): void =>
    console.log(
      `${kind} ${first} to ${next - 1}: ${[...totals].map(([name, sum]) => `${sum} ${name}`).join(", ")}, ` +
        `${wrong} wrong`,
    );
  for (let number = first; number < until; number++) {
    if (gpu === undefined || (number - first) % NUMBERS_OF_A_GPU === 0) {
      gpu?.close();
      gpu = await openGpu();
      if (number === first) console.log(gpu.facts.name);
    }
    try {
      for (const [name, sum] of Object.entries(await compare(number, gpu)))
        totals.set(name, (totals.get(name) ?? 0) + sum);
    } catch (error) {
      wrong++;
      console.log(`${kind} ${number}: ${String(error).slice(0, 500)}`);
      gpu.close();
      gpu = undefined;
    }
    if (Date.now() - printed < PROGRESS_MS) continue;
    printed = Date.now();
    print(number + 1);
  }
  gpu?.close();
  print(until);
  return wrong === 0;
}
