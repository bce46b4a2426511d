import { availableParallelism } from "node:os";
import type { MerkleList } from "../program/merkle/list.ts";
import type { DType } from "../numerics/dtype.ts";
import type { CompiledModel } from "../program/compiled.ts";
import { MAX_MEMORY_BYTES } from "./memory/memoryPlan.ts";
import { memoryOf } from "./memory/views.ts";
import { machineOf } from "./plan/threadMachine.ts";
import { planWithin, type ProgramPlan } from "./plan/planProgram.ts";
import type { PlanOptions } from "./plan/stepPlan.ts";
import { EngineFaultError } from "./errors.ts";
import { noStats, type CertificateStats } from "./certificateStats.ts";
import { writeTensor } from "./writeTensor.ts";
import type { MatMulEngine } from "./engine/matMulEngine.ts";
import type { ExecutionOptions } from "./reference.ts";
import { apartProgram } from "./blocks/apart.ts";
import { withBlocks, type BlockLengths } from "./blocks/blockProgram.ts";
import { runApart, runBlock, type BlockInputs, type BlockOptions, type BlockResult } from "./blocks/runBlock.ts";
import { checkInputs } from "./sources.ts";
import type { Stage } from "./stages.ts";
import { SuccessiveTrees } from "./successiveTrees.ts";
import { HashJob, hashLayout } from "./threads/hashJob.ts";
import { SharedWork } from "./threads/splitWork.ts";
import { onnxEngine } from "./engine/onnxEngine.ts";
import { testEngine } from "./product/testEngine.ts";

/** A job's tensors, and how often the certificate of its float32 sums and products was not enough. */
export type ExecutionResult = {
  /** The tensor of each kept step, by step number: canonical bytes, little-endian. Other steps are holes. */
  tensors: Uint8Array[];
  stats: CertificateStats;
  /** The milliseconds of each stage, added up over all threads; zeros without `profile`. */
  milliseconds: Readonly<Record<Stage, number>>;
};

export type RunOptions = ExecutionOptions & {
  /**
   * Selects the tensors to keep for the result; by default all. Other tensors are overwritten after their last reader
   * has finished.
   */
  keep?: (step: number) => boolean;
  /**
   * Receives the trees of the checkpoints' tensors. The executor keeps the tensors and hashes them during later steps.
   * With {@link SuccessiveTrees}, the executor hashes only the differences from the previous execution.
   */
  trees?: Map<number, MerkleList>;
  /** Whether the time of each stage is taken. */
  profile?: boolean;
};

export type Executor = {
  /** Bytes of memory that it addresses. */
  readonly bytes: number;
  /**
   * @param inputs The job's inputs in the program's order: little-endian, row-major bytes.
   * @throws ExecutionInputError if the inputs do not fit the program; EngineFaultError if a product was wrong: from
   *   then on, nothing from this process may be relied on.
   */
  run(inputs: readonly Uint8Array[], options?: RunOptions): Promise<ExecutionResult>;
  /**
   * Executes consecutive items together, up to the largest block in memory: see `blocks` of {@link ExecutorOptions}.
   * @throws as `run`
   */
  runBlock(items: BlockInputs, options?: BlockOptions): Promise<BlockResult>;
  /**
   * Executes items of different runs together, up to the largest block: see `apart` of `blocks`.
   * @returns for each executed item the tensors that a run needs, by step
   * @throws as `run`
   */
  runApart(items: BlockInputs): Promise<readonly (readonly Uint8Array[])[]>;
  close(): Promise<void>;
};

export type ExecutorOptions = {
  /**
   * The number of computing threads. With 0, the default, a single thread executes jobs until the time spent equals the
   * time to start more threads. From then on, each processor gets a thread, up to at most 8.
   */
  threads?: number;
  /** A single-threaded engine to use instead of onnxruntime. The executor's `close` does not close this engine. */
  engine?: MatMulEngine;
  /** The approximate nanoseconds from which a step gets split among threads. */
  minSplit?: number;
  /**
   * If true, each thread takes exactly its own part of a step, even if another thread could take the part sooner: for
   * tests of threads.
   */
  evenly?: boolean;
  /** The minimum term count for computing a matrix product with the engine; 0 gives all products to the engine. */
  minEngineWork?: number;
  /**
   * If true, every float32 sum is computed in integers, as if no error bound ever settled a sum, and every sum of
   * 16-bit floats by the definition. Except for elementary functions, inputs chosen to defeat the bounds cannot make
   * any execution slower than this mode. The weights in src/program/work.ts are measured in this mode.
   */
  alwaysExact?: boolean;
  /** If true, every engine result is checked, not only a random sample: for tests of engines. */
  checksAll?: boolean;
  /**
   * The number of elements of a product's or reduction's terms to gather at a time, if the shape can be cut. This
   * number bounds memory.
   */
  chunkElements?: number;
  /** The blocks of items for `runBlock` and `runApart`. */
  blocks?: BlockLengths;
  /** The maximum bytes per memory, by default 4 GiB: for tests of programs that need several memories. */
  memoryBytes?: number;
};

/** With fewer terms, a call of the engine costs more than the loops (about 10 us against 1 ns a term). */
const MIN_ENGINE_WORK = 2 ** 14;
/** 2 MB of float64: pieces stay in the cache between gathering, product and certificate. */
const CHUNK_ELEMENTS = 2 ** 18;
/** Several times the duration that threads need to synchronise. */
const MIN_SPLIT = 20_000;
const MAX_THREADS = 8;
/** The number of hashing units, 20 us each, from which the other threads take part. */
const MIN_UNITS = 32;
/** How long a thread takes to start. */
export const START_MS = 500;

/** Returns the default number of threads for executing sufficiently long jobs. */
export const maxThreads = (): number => Math.min(MAX_THREADS, availableParallelism());

/** The threads that are asked for; 0 for as many as are worth it. */
const threadsWanted = ({ engine, threads = 0 }: ExecutorOptions): number => (engine === undefined ? threads : 1);

function planOptionsOf(options: ExecutorOptions): Omit<PlanOptions, "spreads"> {
  const wanted = threadsWanted(options);
  return {
    minEngineWork: options.minEngineWork ?? MIN_ENGINE_WORK,
    chunkElements: options.chunkElements ?? CHUNK_ELEMENTS,
    threads: wanted === 0 ? maxThreads() : wanted,
    memoryBytes: options.memoryBytes ?? MAX_MEMORY_BYTES,
  };
}

/**
 * The bytes that the fast executor addresses at once for a program on this machine. Nothing is executed.
 * @throws ExecutionMemoryError if they are more than can be addressed.
 */
export function executionBytes(model: CompiledModel): number {
  return addressedBytes(planWithin(model, planOptionsOf({})));
}

const addressedBytes = ({ bytes, farBytes }: Pick<ProgramPlan, "bytes" | "farBytes">): number =>
  farBytes.reduce((sum, each) => sum + each, bytes);

/**
 * Creates the fast executor. onnxruntime computes matrix products in float64. An error bound certifies each result;
 * uncertified results are recomputed. Compiled loops compute the rest. The results and `executeReference` agree bit by
 * bit, on any number of threads. Jobs are executed one after the other.
 * @throws ExecutionInputError if a constant is missing; ExecutionMemoryError if the program needs more than can be
 *   addressed; EngineUnfitError if this process deviates from IEEE 754 arithmetic; EngineFaultError if the engine fails
 *   its test; ExecutionThreadError if a thread cannot be started.
 */
export async function createExecutor(model: CompiledModel, options: ExecutorOptions = {}): Promise<Executor> {
  const { steps } = model.program;
  const wanted = threadsWanted(options);
  const { guessed = [] } = options.blocks ?? {};
  const { program, parts, apart } = options.blocks
    ? withBlocks(model.program, options.blocks)
    : { program: model.program, parts: [], apart: [] };
  const plan = planWithin({ ...model, program }, planOptionsOf(options));
  const engine = options.engine ?? (await onnxEngine());
  await testEngine(engine);
  const memories = { memory: memoryOf(plan.bytes), far: plan.farBytes.map(memoryOf) };
  const machine = machineOf(plan, memories, engine, {
    thread: 0,
    alwaysExact: options.alwaysExact ?? false,
    checksAll: options.checksAll ?? false,
  });
  const shared = new SharedWork(
    plan,
    machine,
    { program, options: plan.options, memories },
    {
      minSplit: options.minSplit ?? MIN_SPLIT,
      isEven: options.evenly ?? false,
      checksAll: options.checksAll ?? false,
    },
  );
  if (wanted > 1 && shared.splits) shared.start();
  const giveBack = plan.prepare(machine);
  const operations = plan.steps.map((step) => step.bind(machine));
  try {
    await shared.started();
  } catch (error) {
    giveBack();
    await shared.close();
    throw error;
  }
  const layout = hashLayout(model.program);
  const checkpoints = new Map(model.program.checkpoints.map(({ step }, j) => [step, j]));
  const canShare = options.engine === undefined && availableParallelism() > 1;
  const sharesHashes = canShare && layout.units >= MIN_UNITS;
  const buffer = sharesHashes ? SharedArrayBuffer : ArrayBuffer;
  const newJob = (): HashJob => new HashJob(layout, new buffer(layout.bytes));
  let last: Promise<unknown> = Promise.resolve();
  let spent = 0;
  let fault: EngineFaultError | undefined;
  return {
    bytes: addressedBytes(plan),
    run(inputs, options = {}) {
      return inTurn(() => execute(inputs, options));
    },
    runBlock: (items, options = {}) => inTurn(() => executeBlock(items, options)),
    runApart: (items) => inTurn(() => executeApart(items)),
    async close() {
      await last;
      giveBack();
      await shared.close();
      if (options.engine === undefined) await engine.close();
    },
  };

  function inTurn<T>(action: () => Promise<T>): Promise<T> {
    const execution = last.then(() => untilFault(action)).finally(() => shared.leave());
    last = execution.catch(() => undefined);
    return execution;
  }

  /**
   * Returns no result once a fault is known, including a fault found during the execution or by another thread's own
   * tests.
   */
  async function untilFault<T>(action: () => Promise<T>): Promise<T> {
    try {
      if (fault !== undefined) throw fault;
      const result = await action();
      if (shared.fault !== undefined) throw shared.fault;
      return result;
    } catch (error) {
      if (error instanceof EngineFaultError) fault ??= error;
      throw error;
    }
  }

  function executeBlock(items: BlockInputs, { trees, isUnsure }: BlockOptions): Promise<BlockResult> {
    const means = { model, parts, guessed, plan, machine, shared, operations };
    return together(() => runBlock(means, items, trees?.over(layout, newJob), isUnsure));
  }

  function executeApart(items: BlockInputs): Promise<readonly (readonly Uint8Array[])[]> {
    const own = { ...model, program: apartProgram(model.program) };
    return together(() =>
      runApart({ model: own, parts: apart, guessed: [], plan, machine, shared, operations }, items),
    );
  }

  async function together<T>(action: () => Promise<T>): Promise<T> {
    if (wanted > 0 && canShare && shared.splits && !shared.isStarted) shared.start();
    await shared.enter(false);
    const began = performance.now();
    machine.altering.isOn = false;
    const result = await action();
    spent += performance.now() - began;
    return result;
  }

  async function execute(inputs: readonly Uint8Array[], { onStep, progress, keep, trees, profile }: RunOptions) {
    checkInputs(model, inputs);
    const { views, clock } = machine;
    const hashes = trees instanceof SuccessiveTrees ? trees.over(layout, newJob) : trees && newJob();
    const isUseful = canShare && (shared.splits || (sharesHashes && trees !== undefined));
    if (wanted > 0 && hashes !== undefined && isUseful && !shared.isStarted) shared.start();
    await shared.enter(profile ?? false);
    const began = performance.now();
    if (hashes !== undefined && sharesHashes) shared.announceHashes(hashes);
    Object.assign(machine.stats, noStats());
    const settled = plan.settling.map(({ stats }) => views.uint32(stats.address, 4).fill(0));
    clock.restart(profile ?? false);
    machine.altering.isOn = onStep !== undefined;
    const put = (bytes: Uint8Array, address: number, dtype: DType): void => writeTensor(machine, bytes, address, dtype);
    inputs.forEach((bytes, i) => put(bytes, plan.inputs[i]!.address, model.program.inputs[i]!.dtype));
    // From this point, the inputs' bytes may be overwritten.
    hashes?.begin();
    const tensors: Uint8Array[] = [];
    for (let s = 0; s < steps.length; s++) {
      const checkpoint = hashes === undefined ? undefined : checkpoints.get(s);
      const isKept = keep === undefined || keep(s) || checkpoint !== undefined;
      if (isKept || onStep !== undefined || !plan.optional.has(s)) {
        // Where tensors are altered, steps are not split.
        const parts = onStep === undefined ? shared.operationsOf(s) : undefined;
        const pending = parts === undefined ? operations[s]!() : shared.compute(s, parts);
        if (pending !== undefined) await pending;
      }
      clock.enter("other");
      if (onStep !== undefined || isKept) {
        const { address, bytes } = plan.tensors[s]!;
        let tensor = views.part(address, bytes);
        if (onStep !== undefined) {
          tensor = Uint8Array.from(tensor);
          onStep(s, tensor);
          put(tensor, address, steps[s]!.dtype);
        }
        if (checkpoint !== undefined) {
          clock.enter("compare");
          tensors[s] = hashes!.put(checkpoint, tensor);
          clock.enter("other");
          const units = hashes!.unitsToOffer(checkpoint);
          if (units !== undefined) shared.offerHashes(units);
        } else if (isKept) tensors[s] = onStep === undefined ? Uint8Array.from(tensor) : tensor;
      }
      progress?.(s + 1, steps.length);
      if (wanted === 0 && isUseful && !shared.isStarted && spent + performance.now() - began > START_MS) {
        shared.start();
        await shared.enter(profile ?? false);
      }
    }
    if (hashes !== undefined) {
      await shared.finishHashes(hashes);
      hashes.trees().forEach((tree, j) => trees?.set(model.program.checkpoints[j]!.step, tree));
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
