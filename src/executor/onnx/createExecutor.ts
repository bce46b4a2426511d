import type { CompiledModel } from "../../program/compiled.ts";
import type { TensorRef } from "../../program/types.ts";
import { bytesOf, readableArray, type TensorArray } from "../arrays.ts";
import { planStep } from "../plan/stepPlan.ts";
import { noStats, type CertificateStats } from "../product/certificate.ts";
import type { MatMulEngine } from "../product/matMulEngine.ts";
import type { ExecutionOptions } from "../reference.ts";
import { constantBytes } from "../../program/constants.ts";
import { checkInputs } from "../sources.ts";
import { onnxEngine } from "./onnxEngine.ts";
import { selfTest } from "./selfTest.ts";

/** A job's tensors, and how often the certificate of its float32 sums and products was not enough. */
export type Execution = {
  /** One tensor for each step: canonical bytes, little-endian. */
  tensors: Uint8Array[];
  stats: CertificateStats;
};

export type Executor = {
  /**
   * @param inputs The job's inputs in the program's order: little-endian, row-major bytes.
   * @throws ExecutionInputError if they do not fit the program.
   */
  run(inputs: readonly Uint8Array[], options?: ExecutionOptions): Promise<Execution>;
  close(): Promise<void>;
};

export type ExecutorOptions = {
  /** Threads of the matrix products; 0, the default, leaves the number to onnxruntime. */
  threads?: number;
  /** Another engine than onnxruntime's; `close` leaves it open. */
  engine?: MatMulEngine;
  /** Terms from which a matrix product is handed to the engine; 0 hands over all. */
  leastEngineWork?: number;
  /** Elements of a product's or reduction's terms that are gathered at a time, where its shape allows to cut: bounds memory. */
  chunkElements?: number;
};

/** One root may be read as several tensors: other types, other numbers of zeros at the end. */
const constantKey = (ref: TensorRef & { kind: "constant" }): string => `${ref.root} ${ref.dtype} ${ref.count}`;

/** Below this, a call of the engine costs more than the loops (about 50 us against 1 ns a term). */
const LEAST_ENGINE_WORK = 2 ** 15;
/** 100 MB at 12 bytes an element (float32, and float64 for the engine). */
const CHUNK_ELEMENTS = 2 ** 23;

/**
 * The fast executor: float64 matrix products by onnxruntime, certified, patched where the certificate is not enough; compiled loops for
 * the rest. The same bits as `executeReference`, on any number of threads.
 * @throws ExecutionInputError if a constant is missing; EngineUnfitError if this process does not compute as IEEE 754 says.
 */
export async function createExecutor(model: CompiledModel, options: ExecutorOptions = {}): Promise<Executor> {
  const { steps } = model.program;
  const constants = new Map<string, TensorArray>();
  for (const ref of steps.flatMap(({ inputs }) => inputs)) {
    if (ref.kind === "constant")
      constants.set(constantKey(ref), readableArray(constantBytes(model.constants, ref), ref.dtype));
  }
  const plans = steps.map(planStep);
  const engine = options.engine ?? (await onnxEngine(options.threads ?? 0));
  await selfTest(engine);
  return { run, close: async () => (options.engine === undefined ? engine.close() : undefined) };

  async function run(inputs: readonly Uint8Array[], { onStep, progress }: ExecutionOptions = {}): Promise<Execution> {
    checkInputs(model, inputs);
    const stats = noStats();
    const context = {
      engine,
      leastWork: options.leastEngineWork ?? LEAST_ENGINE_WORK,
      chunkElements: options.chunkElements ?? CHUNK_ELEMENTS,
      stats,
    };
    const given = inputs.map((bytes, i) => readableArray(bytes, model.program.inputs[i]!.dtype));
    const results: TensorArray[] = [];
    const tensors: Uint8Array[] = [];
    for (const [s, step] of steps.entries()) {
      const sources = step.inputs.map((ref) => {
        if (ref.kind === "constant") return constants.get(constantKey(ref))!;
        return (ref.kind === "input" ? given : results)[ref.index]!;
      });
      const result = await plans[s]!(sources, context);
      const tensor = bytesOf(result);
      onStep?.(s, tensor);
      tensors.push(tensor);
      results.push(onStep === undefined ? result : readableArray(tensor, step.dtype));
      progress?.(s + 1, steps.length);
    }
    return { tensors, stats };
  }
}
