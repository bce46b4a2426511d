import { productKernels } from "../../kernels/productKernels.ts";
import type { CompiledModel } from "../../program/compiled.ts";
import { bytesOf, readableArray } from "../arrays.ts";
import { memoryOf, Views } from "../memory/views.ts";
import type { Machine } from "../plan/plan.ts";
import { planProgram } from "../plan/planProgram.ts";
import { noStats, type CertificateStats } from "../product/certificate.ts";
import type { MatMulEngine } from "../product/matMulEngine.ts";
import type { ExecutionOptions } from "../reference.ts";
import { checkInputs } from "../sources.ts";
import { StageClock, type Stage } from "../stages.ts";
import { onnxEngine } from "./onnxEngine.ts";
import { selfTest } from "./selfTest.ts";

/** A job's tensors, and how often the certificate of its float32 sums and products was not enough. */
export type Execution = {
  /** The tensor of each step that was asked for, by its number: canonical bytes, little-endian. Others are holes. */
  tensors: Uint8Array[];
  stats: CertificateStats;
  /** Where the time went, if asked for. */
  milliseconds: Readonly<Record<Stage, number>>;
};

export type RunOptions = ExecutionOptions & {
  /** Which tensors are handed over; all unless given. Others are gone once the steps that read them are done. */
  keep?: (step: number) => boolean;
  /** Whether the time of each stage is taken. */
  profile?: boolean;
};

export type Executor = {
  /**
   * @param inputs The job's inputs in the program's order: little-endian, row-major bytes.
   * @throws ExecutionInputError if they do not fit the program.
   */
  run(inputs: readonly Uint8Array[], options?: RunOptions): Promise<Execution>;
  close(): Promise<void>;
};

export type ExecutorOptions = {
  /** Threads; 0, the default, leaves the number to onnxruntime. */
  threads?: number;
  /** Another engine than onnxruntime's; `close` leaves it open. */
  engine?: MatMulEngine;
  /** Terms from which a matrix product is handed to the engine; 0 hands over all. */
  leastEngineWork?: number;
  /**
   * Computes every float32 sum in integers, as if no error bound were ever enough: how slow inputs can make an execution that are chosen to
   * defeat them. Windows of the market are sized from it.
   */
  doubt?: boolean;
  /** Elements of a product's or reduction's terms that are gathered at a time, where its shape allows to cut: bounds memory. */
  chunkElements?: number;
};

/** Below this, a call of the engine costs more than the loops (about 10 us against 1 ns a term). */
const LEAST_ENGINE_WORK = 2 ** 14;
/** 2 MB of float64: pieces stay in the cache between gathering, product and certificate. */
const CHUNK_ELEMENTS = 2 ** 18;

/**
 * The fast executor: float64 matrix products by onnxruntime, certified, patched where the certificate is not enough; compiled loops for
 * the rest. The same bits as `executeReference`, on any number of threads. Jobs are executed one after the other.
 * @throws ExecutionInputError if a constant is missing; ExecutionMemoryError if the program needs more than can be addressed;
 * EngineUnfitError if this process does not compute as IEEE 754 says.
 */
export async function createExecutor(model: CompiledModel, options: ExecutorOptions = {}): Promise<Executor> {
  const { steps } = model.program;
  const plan = planProgram(model, {
    leastEngineWork: options.leastEngineWork ?? LEAST_ENGINE_WORK,
    chunkElements: options.chunkElements ?? CHUNK_ELEMENTS,
    threads: 1,
  });
  const engine = options.engine ?? (await onnxEngine(options.threads ?? 0));
  await selfTest(engine);
  const memory = memoryOf(plan.bytes);
  const machine: Machine = {
    memory,
    views: new Views(memory),
    loops: plan.loops.on(memory),
    reductions: plan.reductions.on(memory),
    engine,
    kernels: productKernels(memory),
    settleScratch: plan.settling[0]!.scratch.address,
    settleStats: plan.settling[0]!.stats.address,
    stats: noStats(),
    clock: new StageClock(),
    isDoubtful: options.doubt ?? false,
    isAltered: false,
    part: 0,
    parts: 1,
  };
  plan.prepare(machine);
  const operations = plan.steps.map((step) => step.bind(machine));
  let last: Promise<unknown> = Promise.resolve();
  return {
    run(inputs, options = {}) {
      const execution = last.then(() => execute(inputs, options));
      last = execution.catch(() => undefined);
      return execution;
    },
    async close() {
      await last;
      if (options.engine === undefined) await engine.close();
    },
  };

  async function execute(inputs: readonly Uint8Array[], { onStep, progress, keep, profile }: RunOptions) {
    checkInputs(model, inputs);
    const { views, clock } = machine;
    Object.assign(machine.stats, noStats());
    const settled = views.uint32(machine.settleStats, 4).fill(0);
    clock.restart(profile ?? false);
    machine.isAltered = onStep !== undefined;
    const put = (bytes: Uint8Array, address: number, dtype: (typeof steps)[number]["dtype"]): void =>
      views.bytes.set(bytesOf(readableArray(bytes, dtype)), address);
    inputs.forEach((bytes, i) => put(bytes, plan.inputs[i]!.address, model.program.inputs[i]!.dtype));
    const tensors: Uint8Array[] = [];
    for (let s = 0; s < operations.length; s++) {
      const isKept = keep === undefined || keep(s);
      if (isKept || onStep !== undefined || !plan.optional.has(s)) {
        const pending = operations[s]!();
        if (pending !== undefined) await pending;
      }
      clock.enter("other");
      if (onStep !== undefined || isKept) {
        const { address, bytes } = plan.tensors[s]!;
        const tensor = views.part(address, bytes).slice();
        if (onStep !== undefined) {
          onStep(s, tensor);
          put(tensor, address, steps[s]!.dtype);
        }
        if (isKept) tensors[s] = tensor;
      }
      progress?.(s + 1, steps.length);
    }
    clock.stop();
    const [ties, compensated, exact, patched] = settled as unknown as Four;
    const stats = {
      ...machine.stats,
      ties: machine.stats.ties + ties,
      compensated: machine.stats.compensated + compensated,
      exact: machine.stats.exact + exact,
      patched: machine.stats.patched + patched,
    };
    return { tensors, stats, milliseconds: { ...clock.milliseconds } };
  }
}

type Four = [number, number, number, number];
