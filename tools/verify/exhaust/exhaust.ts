import { CHUNKS, hashOfChunks } from "../../../src/executor/gpu/allInputs.ts";
import type { BoundedEstimate } from "../../../src/numerics/kernels/elementary/certified.ts";
import { estimateOf } from "../../../src/numerics/kernels/elementary/estimates.ts";
import type { OpName } from "../../../src/program/operations.ts";
import { Checkpoint } from "./checkpoint.ts";
import { BUILDS, type BuildName, type ChunkReport, type Measured } from "./chunks.ts";
import { runGroup } from "./group.ts";
import { buildC } from "./build.ts";

/** The results on all chunks of a function. */
export type FunctionReport = {
  /** SHA-256 over the chunks' hashes, concatenated. */
  hash: string;
  builds: Readonly<Record<BuildName, Measured>>;
};

/** So many chunks are run before their reports are kept, at a stride of 1: half a minute. */
const GROUP = 16;

type ExhaustOptions = {
  names: readonly OpName[];
  /** Out of `stride` inputs, one is tried: a power of two up to 2^16. */
  stride: number;
  /** Number of functions, or function parts, running in parallel. */
  jobs: number;
  /** Where reports are kept. */
  folder: string;
  onFunction: (name: OpName, report: FunctionReport) => void;
};

/**
 * Runs functions on all float32, or one of each `stride`, in both builds, and compares each result with the definition.
 * @throws WrongResultError
 */
export async function exhaust({ names, stride, jobs, folder, onFunction }: ExhaustOptions): Promise<void> {
  const judge = buildC("judge");
  if ("missing" in judge) throw new Error(judge.missing);
  const size = Math.min(Math.ceil(CHUNKS / jobs), GROUP * stride);
  const functions = names.map((name) => {
    const checkpoint = new Checkpoint(folder, name, stride);
    const known = checkpoint.read();
    const missing = Array.from({ length: CHUNKS }, (_, chunk) => chunk).filter((chunk) => !known.has(chunk));
    const groups = Array.from({ length: Math.ceil(missing.length / size) }, (_, k) =>
      missing.slice(k * size, (k + 1) * size),
    );
    if (groups.length === 0) onFunction(name, combine([...known.values()]));
    return groups.map((chunks) => ({ name, chunks, checkpoint }));
  });
  const queue = functions.flat();
  const work = async (): Promise<void> => {
    for (let task = queue.shift(); task !== undefined; task = queue.shift()) {
      const { name, chunks, checkpoint } = task;
      checkpoint.add(await runGroup(judge, name, stride, chunks));
      const known = checkpoint.read();
      if (known.size === CHUNKS) onFunction(name, combine([...known.values()]));
    }
  };
  // If a job fails, the other jobs finish the work begun: their processes do not outlive this process.
  const stopping = (): Promise<void> =>
    work().catch((error: unknown) => {
      queue.length = 0;
      throw error;
    });
  const ends = await Promise.allSettled(Array.from({ length: jobs }, stopping));
  judge.remove();
  const failed = ends.find((end) => end.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

const worse = (a: Measured, b: Measured): Measured => ({
  ...(b.error <= a.error || Number.isNaN(a.error) ? { error: a.error, at: a.at } : { error: b.error, at: b.at }),
  doubts: a.doubts + b.doubts,
});

/** Combines a function's chunk reports into a single report. */
function combine(chunks: readonly ChunkReport[]): FunctionReport {
  const sorted = chunks.toSorted((a, b) => a.chunk - b.chunk);
  const of = (build: BuildName): Measured => sorted.map(({ builds }) => builds[build]).reduce(worse);
  const builds = Object.fromEntries(BUILDS.map((build) => [build, of(build)])) as Record<BuildName, Measured>;
  return { hash: hashOfChunks(sorted.map(({ hash }) => hash)), builds };
}

/** The builds whose estimates are further off than the kernels claim, in words. */
export function beyondBound(
  name: OpName,
  { builds }: FunctionReport,
  { bound }: Pick<BoundedEstimate, "bound"> = estimateOf(name),
): string[] {
  return BUILDS.filter((build) => !(builds[build].error <= bound)).map(
    (build) =>
      `${name}, ${build}: an estimate is off by 2^${Math.log2(builds[build].error).toFixed(2)} at ` +
      `0x${builds[build].at.toString(16).padStart(8, "0")}, more than the bound of the kernels, ` +
      `2^${Math.log2(bound).toFixed(2)}`,
  );
}
