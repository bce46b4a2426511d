import { DType } from "../../numerics/dtype.ts";
import type { CompiledModel } from "../../program/compiled.ts";
import { axisRange } from "../../program/loops.ts";
import { isElementary } from "../../program/operations.ts";
import type { Step, TensorRef, View } from "../../program/types.ts";
import { createExecutor, type Executor } from "../createExecutor.ts";
import type { MatMulEngine } from "../engine/matMulEngine.ts";
import { onnxEngine } from "../engine/onnxEngine.ts";

/**
 * The limit for affine parts of coordinates, and for extents times divisors: an index from a tensor below 2^29 can be
 * added in 32 bits, and any other index lies outside.
 */
const REACH = 2 ** 28;

/**
 * Why a GPU does not compute a step, so that the CPU's executor does (docs/performance.md, "A GPU"). The list is
 * complete: any other step is computed on the GPU.
 * @returns undefined if a GPU computes the step
 */
export function reasonForCpu(step: Step): string | undefined {
  const { term, epilogue } = step;
  const codes = [...term.code, ...epilogue.code];
  if (codes.some(({ op, dtype }) => isElementary(op) && dtype === DType.float64)) return "a function of float64";
  const radices = [...step.outDigits, ...step.redDigits];
  const isFar = ({ axes }: View): boolean =>
    axes.some((axis) => {
      const [low, high] = axisRange(axis, (digit) => radices[digit] ?? 1);
      return low < -REACH || high >= REACH || axis.extent * axis.div >= REACH;
    });
  return [...step.termReads, ...step.epilogueReads].some(isFar) ? "coordinates beyond 2^28" : undefined;
}

/** The CPU's executors of single steps, which share an engine. */
export async function cpuExecutors(
  model: CompiledModel,
  numbers: readonly number[],
  given: MatMulEngine | undefined,
): Promise<{ run(step: number, sources: readonly Uint8Array[]): Promise<Uint8Array>; close(): Promise<void> }> {
  const engine = given ?? (numbers.length > 0 ? await onnxEngine() : undefined);
  const executors = new Map<number, Executor>();
  const close = async (): Promise<void> => {
    for (const executor of executors.values()) await executor.close();
    if (given === undefined) await engine?.close();
  };
  try {
    if (engine !== undefined)
      for (const s of numbers) executors.set(s, await createExecutor(stepModel(model, s), { engine }));
  } catch (error) {
    await close();
    throw error;
  }
  return { run: async (s, sources) => (await executors.get(s)!.run(sources)).tensors[0]!, close };
}

/** A model with a single step. The step reads only the inputs. */
function stepModel(model: CompiledModel, s: number): CompiledModel {
  const step = model.program.steps[s]!;
  const inputs = step.inputs.map(({ dtype, count }) => ({ dtype, count }));
  const refs = inputs.map((input, index): TensorRef => ({ kind: "input", index, ...input }));
  const program = { ...model.program, inputs, steps: [{ ...step, inputs: refs }], checkpoints: [], outputs: [] };
  return { ...model, program, constants: new Map(), inputs: [], outputs: [], origins: [model.origins[s]!] };
}
