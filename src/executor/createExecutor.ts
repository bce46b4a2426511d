import { availableParallelism } from "node:os";
import type { MerkleList } from "../merkle/list.ts";
import type { CompiledModel } from "../program/compiled.ts";
import { bytesOf, readableArray } from "./arrays.ts";
import { memoryOf } from "./memory/views.ts";
import { machineOf } from "./plan/threadMachine.ts";
import { planProgram } from "./plan/planProgram.ts";
import { noStats, type CertificateStats } from "./certificateStats.ts";
import type { MatMulEngine } from "./engine/matMulEngine.ts";
import type { ExecutionOptions } from "./reference.ts";
import { checkInputs } from "./sources.ts";
import type { Stage } from "./stages.ts";
import { HashJob, hashLayout } from "./threads/hashJob.ts";
import { SharedWork } from "./threads/shared.ts";
import { onnxEngine } from "./engine/onnxEngine.ts";
import { selfTest } from "./engine/selfTest.ts";

/** A job's tensors, and how often the certificate of its float32 sums and products was not enough. */
export type ExecutionResult = {
  /** The tensor of each step that was asked for, by its number: canonical bytes, little-endian. Others are holes. */
  tensors: Uint8Array[];
  stats: CertificateStats;
  /** Where the time went, if asked for: milliseconds of all threads. */
  milliseconds: Readonly<Record<Stage, number>>;
};

export type RunOptions = ExecutionOptions & {
  /** Which tensors are handed over; all unless given. Others are gone once the steps that read them are done. */
  keep?: (step: number) => boolean;
  /**
   * Receives the trees of the checkpoints' tensors, which are kept then: they are hashed while later steps are
   * computed.
   */
  trees?: Map<number, MerkleList>;
  /** Whether the time of each stage is taken. */
  profile?: boolean;
};

export type Executor = {
  /**
   * @param inputs The job's inputs in the program's order: little-endian, row-major bytes.
   * @throws ExecutionInputError if they do not fit the program.
   */
  run(inputs: readonly Uint8Array[], options?: RunOptions): Promise<ExecutionResult>;
  close(): Promise<void>;
};

export type ExecutorOptions = {
  /**
   * Threads that compute. 0, the default: one until jobs have been executed for as long as it takes to start more, then
   * as many as there are processors, at most 8.
   */
  threads?: number;
  /** Another engine than onnxruntime's, for one thread; `close` leaves it open. */
  engine?: MatMulEngine;
  /** Roughly the nanoseconds from which a step is split among threads. */
  minSplit?: number;
  /** Whether each thread is left its part of a step, even where another could take it sooner: for tests of threads. */
  evenly?: boolean;
  /** Terms from which a matrix product is handed to the engine; 0 hands over all. */
  minEngineWork?: number;
  /**
   * Computes every float32 sum in integers, as if no error bound were ever enough: how slow inputs can make an
   * execution that are chosen to defeat them. Windows of the market are sized from it.
   */
  alwaysExact?: boolean;
  /**
   * Elements of a product's or reduction's terms that are gathered at a time, where its shape allows to cut: bounds
   * memory.
   */
  chunkElements?: number;
};

/** Below this, a call of the engine costs more than the loops (about 10 us against 1 ns a term). */
const MIN_ENGINE_WORK = 2 ** 14;
/** 2 MB of float64: pieces stay in the cache between gathering, product and certificate. */
const CHUNK_ELEMENTS = 2 ** 18;
/** Several times what it takes threads to meet. */
const MIN_SPLIT = 20_000;
const MAX_THREADS = 8;
/** Units of hashing, of 20 us, from which other threads are told of them. */
const MIN_UNITS = 32;
/** What it takes to start a thread. */
const START_MS = 500;

/**
 * The fast executor: float64 matrix products by onnxruntime, certified, patched where the certificate is not enough;
 * compiled loops for the rest. The same bits as `executeReference`, on any number of threads. Jobs are executed one
 * after the other.
 * @throws ExecutionInputError if a constant is missing; ExecutionMemoryError if the program needs more than can be
 * addressed; EngineUnfitError if this process does not compute as IEEE 754 says; ExecutionThreadError if a thread
 * cannot be started.
 */
export async function createExecutor(model: CompiledModel, options: ExecutorOptions = {}): Promise<Executor> {
  const { steps } = model.program;
  const wanted = options.engine === undefined ? (options.threads ?? 0) : 1;
  const planOptions = {
    minEngineWork: options.minEngineWork ?? MIN_ENGINE_WORK,
    chunkElements: options.chunkElements ?? CHUNK_ELEMENTS,
    threads: wanted === 0 ? Math.min(MAX_THREADS, availableParallelism()) : wanted,
  };
  const plan = planProgram(model, planOptions);
  const engine = options.engine ?? (await onnxEngine());
  await selfTest(engine);
  const machine = machineOf(plan, memoryOf(plan.bytes), engine, {
    thread: 0,
    alwaysExact: options.alwaysExact ?? false,
  });
  const shared = new SharedWork(
    plan,
    machine,
    { program: model.program, options: planOptions },
    { minSplit: options.minSplit ?? MIN_SPLIT, isEven: options.evenly ?? false },
  );
  if (wanted > 1 && shared.splits) shared.start();
  plan.prepare(machine);
  const operations = plan.steps.map((step) => step.bind(machine));
  try {
    await shared.started();
  } catch (error) {
    await shared.close();
    throw error;
  }
  const layout = hashLayout(model.program);
  const checkpoints = new Map(model.program.checkpoints.map(({ step }, j) => [step, j]));
  const canShare = options.engine === undefined && availableParallelism() > 1;
  const sharesHashes = canShare && layout.units >= MIN_UNITS;
  let last: Promise<unknown> = Promise.resolve();
  let spent = 0;
  return {
    run(inputs, options = {}) {
      const execution = last.then(() => execute(inputs, options)).finally(() => shared.leave());
      last = execution.catch(() => undefined);
      return execution;
    },
    async close() {
      await last;
      await shared.close();
      if (options.engine === undefined) await engine.close();
    },
  };

  async function execute(inputs: readonly Uint8Array[], { onStep, progress, keep, trees, profile }: RunOptions) {
    checkInputs(model, inputs);
    const { views, clock } = machine;
    const buffer = sharesHashes ? SharedArrayBuffer : ArrayBuffer;
    const hashes = trees === undefined ? undefined : new HashJob(layout, new buffer(layout.bytes));
    const isUseful = canShare && (shared.splits || (sharesHashes && trees !== undefined));
    if (wanted > 0 && hashes !== undefined && isUseful && !shared.isStarted) shared.start();
    await shared.enter(profile ?? false);
    const began = performance.now();
    if (hashes !== undefined && sharesHashes) shared.announceHashes(hashes);
    Object.assign(machine.stats, noStats());
    const settled = plan.settling.map(({ stats }) => views.uint32(stats.address, 4).fill(0));
    clock.restart(profile ?? false);
    machine.altering.isOn = onStep !== undefined;
    const put = (bytes: Uint8Array, address: number, dtype: (typeof steps)[number]["dtype"]): void =>
      views.bytes.set(bytesOf(readableArray(bytes, dtype)), address);
    inputs.forEach((bytes, i) => put(bytes, plan.inputs[i]!.address, model.program.inputs[i]!.dtype));
    const tensors: Uint8Array[] = [];
    for (let s = 0; s < operations.length; s++) {
      const checkpoint = hashes === undefined ? undefined : checkpoints.get(s);
      const isKept = keep === undefined || keep(s) || checkpoint !== undefined;
      if (isKept || onStep !== undefined || !plan.optional.has(s)) {
        // Altered tensors are executed in ways that are not split.
        const parts = onStep === undefined ? shared.operationsOf(s) : undefined;
        const pending = parts === undefined ? operations[s]!() : shared.compute(s, parts);
        if (pending !== undefined) await pending;
      }
      clock.enter("other");
      if (onStep !== undefined || isKept) {
        const { address, bytes } = plan.tensors[s]!;
        const tensor = checkpoint === undefined ? new Uint8Array(bytes) : hashes!.tensor(checkpoint);
        tensor.set(views.part(address, bytes));
        if (onStep !== undefined) {
          onStep(s, tensor);
          put(tensor, address, steps[s]!.dtype);
        }
        if (isKept) tensors[s] = tensor;
        if (checkpoint !== undefined) shared.offerHashes(hashes!.unitsUpTo(checkpoint));
      }
      progress?.(s + 1, steps.length);
      if (wanted === 0 && isUseful && !shared.isStarted && spent + performance.now() - began > START_MS) {
        shared.start();
        await shared.enter(profile ?? false);
      }
    }
    if (hashes !== undefined) {
      await shared.finishHashes(hashes);
      for (const [step, j] of checkpoints) trees?.set(step, hashes.tree(j));
    }
    clock.stop();
    spent += performance.now() - began;
    const stats = { ...machine.stats };
    for (const [ties, compensated, exact, patched] of settled as unknown as Four[]) {
      stats.ties += ties;
      stats.compensated += compensated;
      stats.exact += exact;
      stats.patched += patched;
    }
    const milliseconds = { ...clock.milliseconds };
    shared.addCounts(stats, milliseconds);
    return { tensors, stats, milliseconds };
  }
}

type Four = [number, number, number, number];
