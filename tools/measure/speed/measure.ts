/**
 * One measurement in a process of its own: `measure.ts time|checks|plain|exact PREPARED THREADS SECONDS`, the result as
 * JSON on a channel. With 0 seconds each kind is run once.
 */
import * as ort from "onnxruntime-node";
import { toOrt } from "../../../src/native/plain/ortTensor.ts";
import { createExecutor, type ExecutionResult, type Executor } from "../../../src/executor/createExecutor.ts";
import type { CertificateStats } from "../../../src/executor/certificateStats.ts";
import type { Stage } from "../../../src/executor/stages.ts";
import type { Hash } from "../../../src/program/merkle/hash.ts";
import type { MerkleList } from "../../../src/program/merkle/list.ts";
import { tensorRoot } from "../../../src/program/merkle/tensor.ts";
import { dtypeBytes } from "../../../src/numerics/dtype.ts";
import { Trace } from "../../../src/program/trace/trace.ts";
import { median } from "./median.ts";
import { readPrepared, type Prepared } from "./prepare.ts";

/** Medians in milliseconds, and the data from a single run. */
export type Timing = {
  /**
   * The processor time of all exact runs, divided by all plain runs' processor time: the ratio on an otherwise idle
   * machine.
   */
  processorRatio: number;
  plain: number;
  exact: number;
  committed: number;
  checked: number;
  runs: number;
  stats: CertificateStats;
  /** Milliseconds by stage for one run with commitment, over all threads. */
  stages: Readonly<Record<Stage, number>>;
  /** Milliseconds for a run computing every float32 sum in integers; undefined for models run once. */
  doubtful: number | undefined;
  hashedBytes: number;
  steps: number;
};
export type Memory = { peakBytes: number };
/** Milliseconds over all threads and runs: in all stages except waiting, and the part in spot checks. */
export type Checks = { runs: number; milliseconds: number; checks: number };

/** As an application runs it: default optimisation. */
async function plainRun({ bytes, inputs }: Prepared, threads: number): Promise<() => Promise<unknown>> {
  const session = await ort.InferenceSession.create(bytes, {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
  });
  const feeds = Object.fromEntries([...inputs].map(([name, tensor]) => [name, toOrt(tensor)]));
  return () => session.run(feeds);
}

/** Returns a worker's execution, and the root to post. */
async function committed(executor: Executor, { model, given }: Prepared, profile = false): Promise<Committed> {
  const trees = new Map<number, MerkleList>();
  const execution = await executor.run(given, { keep: () => false, trees, profile });
  return { execution, root: new Trace(model.program, execution.tensors, trees).root };
}

type Committed = { execution: ExecutionResult; root: Hash };

async function time(prepared: Prepared, threads: number, seconds: number): Promise<Timing> {
  const { model, given } = prepared;
  const plain = await plainRun(prepared, threads);
  const executor = await createExecutor(model, { threads });
  const checkpoints = new Set(model.program.checkpoints.map(({ step }) => step));
  const keep = (step: number): boolean => checkpoints.has(step);
  const isOnce = seconds === 0;
  let last: Committed | undefined;
  const commit = async (): Promise<void> => {
    const before = last?.root;
    last = await committed(executor, prepared, isOnce);
    if (before !== undefined && before !== last.root) throw new Error("two executions differ");
  };
  const work: Record<"plain" | "exact" | "committed" | "checked", () => Promise<unknown>> = {
    plain,
    exact: () => executor.run(given, { keep }),
    committed: commit,
    // A watcher has the inputs from the chain, whose tree the job names.
    checked: () => {
      given.forEach(tensorRoot);
      return commit();
    },
  };
  const names = Object.keys(work) as (keyof typeof work)[];
  const samples = { plain: [], exact: [], committed: [], checked: [] } as Record<keyof typeof work, number[]>;
  const processor = { plain: 0, exact: 0, committed: 0, checked: 0 };
  const deadline = performance.now() + seconds * 1000;
  const [warmUp, minRuns, maxRuns] = isOnce ? [0, 1, 1] : [WARM_UP, MIN_RUNS, MAX_RUNS];
  let runs = -warmUp;
  for (; runs < minRuns || (runs < maxRuns && performance.now() < deadline); runs++) {
    for (const name of names) {
      const start = performance.now();
      const before = process.cpuUsage();
      await work[name]();
      if (runs < 0) continue;
      const { user, system } = process.cpuUsage(before);
      samples[name].push(performance.now() - start);
      processor[name] += user + system;
    }
  }
  const { stats, milliseconds } = (isOnce ? last! : await committed(executor, prepared, true)).execution;
  const { steps } = model.program;
  const doubtful = isOnce ? undefined : await doubtfulTime(prepared, threads);
  return {
    processorRatio: processor.exact / processor.plain,
    plain: median(samples.plain),
    exact: median(samples.exact),
    committed: median(samples.committed),
    checked: median(samples.checked),
    runs,
    stats,
    stages: milliseconds,
    doubtful,
    hashedBytes: model.program.checkpoints.reduce(
      (sum, { step }) => sum + steps[step]!.count * dtypeBytes(steps[step]!.dtype),
      0,
    ),
    steps: steps.length,
  };
}

/** Returns the milliseconds of a run that trusts no error bound. */
async function doubtfulTime({ model, given }: Prepared, threads: number): Promise<number> {
  const doubting = await createExecutor(model, { threads, alwaysExact: true });
  const start = performance.now();
  await doubting.run(given, { keep: () => false });
  return performance.now() - start;
}

/**
 * Measures the spot checks' part in exact executions. Each check's time includes the clock readings around the check.
 */
async function checks({ model, given }: Prepared, threads: number, seconds: number): Promise<Checks> {
  const executor = await createExecutor(model, { threads });
  for (let k = 0; k < WARM_UP; k++) await executor.run(given, { keep: () => false });
  const sum = { runs: 0, milliseconds: 0, checks: 0 };
  for (const end = performance.now() + seconds * 1000; performance.now() < end; sum.runs++) {
    const { milliseconds } = await executor.run(given, { keep: () => false, profile: true });
    sum.checks += milliseconds.checks;
    for (const [stage, value] of Object.entries(milliseconds)) if (stage !== "waiting") sum.milliseconds += value;
  }
  return sum;
}

const WARM_UP = 3;
const MIN_RUNS = 5;
const MAX_RUNS = 300;

/** The peak of a process that does nothing else, a few times over. */
async function memory(run: () => Promise<unknown>, seconds: number): Promise<Memory> {
  for (let k = 0; k < (seconds === 0 ? 1 : 3); k++) await run();
  return { peakBytes: process.resourceUsage().maxRSS * 1024 };
}

let kept: Awaited<ReturnType<typeof createExecutor>> | undefined;
const [mode, path, threads, seconds] = process.argv.slice(2) as [string, string, string, string];
const prepared = readPrepared(path);
const limit = Number(seconds);
const count = Number(threads);
const modes: Readonly<Record<string, () => Promise<unknown>>> = {
  time: () => time(prepared, count, limit),
  checks: () => checks(prepared, count, limit),
  plain: async () => memory(await plainRun(prepared, count), limit),
  exact: () =>
    memory(async () => {
      kept ??= await createExecutor(prepared.model, { threads: count });
      return committed(kept, prepared);
    }, limit),
};
const result = await modes[mode]!();
process.send!(result, () => process.exit(0));
