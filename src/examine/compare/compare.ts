import { isFloat } from "../../numerics/dtype.ts";
import type { TensorData } from "../../model/onnx/model.ts";
import type { CompiledModel, TensorInfo, ValueLocation } from "../../program/compiled.ts";
import type { Program } from "../../program/types.ts";
import { differenceOf, OF_LARGEST, type Difference } from "./difference.ts";
import { gatherNumbers, gatherValue } from "./gatherValue.ts";
import { withinCounts } from "./withinCounts.ts";
import { plainApart } from "../../native/plain/plainApart.ts";
import { PlainRefusalError } from "../../native/plain/plainRun.ts";
import { numbersOf, wideTensor } from "./wideRun.ts";

/**
 * onnxruntime computes these operators with rational functions. The results are off by up to a few 2^-24 of 1, even for
 * a very small result; later steps inherit the error.
 */
const APPROXIMATED = /Sigmoid|Tanh|LSTM|GRU|RNN|Erf|Gelu/;
const OF_APPROXIMATED = 2 ** -22;

/**
 * How far both results are from a chain that computes the program in float64 without rounding in between: the largest
 * difference of an element.
 */
export type Distances = { exact: number; plain: number };

/** Exact execution beside plain onnxruntime. */
export type Comparison = {
  /**
   * One entry per output; `shape` if onnxruntime gives another shape or type. `float64` exists for values out of
   * tolerance, if the float64 chain is fast enough. `constant` marks an output that the compiler computed: no input of
   * the program reaches the output.
   */
  outputs: ({ name: string; constant?: true } & ((Difference & { float64?: Distances }) | { shape: string }))[];
  /** Values inside the graph that could be compared. */
  compared: number;
  /** The first value outside float32 tolerance, in the program's order. */
  firstDifferent:
    { name: string; step: number; operator: string; difference: Difference; float64?: Distances } | undefined;
};

/** The tensors of the program's outputs. */
export function outputTensors({ program, outputs }: CompiledModel, tensors: readonly Uint8Array[]) {
  return outputs.map((info, k): TensorInfo & TensorData => ({
    ...info,
    bytes: tensors[program.checkpoints[program.outputs[k]!]!.step]!,
  }));
}

/** A tensor without elements. */
export const emptyTensor = (info: TensorInfo): TensorInfo & TensorData => ({ ...info, bytes: new Uint8Array() });

/**
 * Runs the model in plain onnxruntime, in a process of its own, on the same inputs and compares.
 * @param from The model file's path or bytes.
 * @param tensors The exact execution's tensors, one per step.
 * @param ofLargest Allowed error of an element, in relation to the tensor's largest element.
 * @throws PlainRefusalError if onnxruntime refuses the model or dies of it
 */
export async function compare(
  from: string | Uint8Array,
  model: CompiledModel,
  inputs: ReadonlyMap<string, TensorData>,
  tensors: readonly Uint8Array[],
  ofLargest = OF_LARGEST,
): Promise<Comparison> {
  const plain = (await plainApart({ from, inputs }))!;
  const approximated = model.origins.findIndex(({ operator }) => APPROXIMATED.test(operator));
  const allowed = (step: number): number => (approximated >= 0 && step >= approximated ? OF_APPROXIMATED : 0);
  const { checkpoints, outputs: positions } = model.program;
  const distances = (difference: Difference, location: ValueLocation, own: TensorData, other: TensorData) => {
    if (difference.first === undefined || !isFloat(own.dtype)) return {};
    const given = model.inputs.map(({ name }) => inputs.get(name)!.bytes);
    const wide = wideTensor(model, given, tensors, location.step);
    return wide === undefined ? {} : { float64: distancesFrom(gatherNumbers(location, wide), own, other) };
  };
  const whole = outputTensors(model, tensors);
  const reached = reachedSteps(model.program);
  const outputs = withinCounts(whole).map((own) => {
    const { dtype } = own;
    const at = whole.findIndex(({ name }) => name === own.name);
    const { step } = checkpoints[positions[at]!]!;
    const named = { name: own.name, ...(!reached[step] && { constant: true as const }) };
    const other = plain.get(own.name);
    if (other !== undefined && comparable(own, other)) {
      const difference = differenceOf(own, other, ofLargest, allowed(step));
      // The existing part of a bounded output keeps the whole tensor's strides.
      const location = { step, dtype, shape: own.shape, strides: rowMajorStrides(whole[at]!.shape) };
      return { ...named, ...difference, ...distances(difference, location, own, other) };
    }
    return { ...named, shape: other === undefined ? "another type" : `[${other.shape.join(", ")}]` };
  });

  const locations = [...(model.valueLocations ?? [])].sort(([, a], [, b]) => a.step - b.step);
  const values = await plainApart({ from, inputs, names: locations.map(([name]) => name) }).catch((error: unknown) => {
    // The outputs were compared; onnxruntime may still refuse, or die of, values that became outputs.
    if (error instanceof PlainRefusalError) return undefined;
    throw error;
  });
  let compared = 0;
  let firstDifferent: Comparison["firstDifferent"];
  for (const [name, location] of locations) {
    const other = values?.get(name);
    const own = gatherValue(location, tensors[location.step]!);
    if (other === undefined || !comparable(own, other)) continue;
    compared++;
    const difference = differenceOf(own, other, ofLargest, allowed(location.step));
    if (difference.first === undefined) continue;
    const { operator } = model.origins[location.step]!;
    firstDifferent = {
      name,
      step: location.step,
      operator,
      difference,
      ...distances(difference, location, own, other),
    };
    break;
  }
  return { outputs, compared, firstDifferent };
}

/** Returns for each step whether an input of the program reaches the step's tensor. */
function reachedSteps({ steps }: Program): boolean[] {
  const reached: boolean[] = [];
  for (const { inputs } of steps)
    reached.push(inputs.some((ref) => ref.kind === "input" || (ref.kind === "step" && reached[ref.index]!)));
  return reached;
}

/**
 * Returns the distances of both results from the chain.
 * @param wide The chain's elements; the function skips elements without finite numbers in all three tensors.
 */
function distancesFrom(wide: Float64Array, own: TensorData, other: TensorData): Distances {
  const [a, b] = [numbersOf(own.bytes, own.dtype), numbersOf(other.bytes, other.dtype)];
  const result = { exact: 0, plain: 0 };
  wide.forEach((value, i) => {
    if (![value, a[i], b[i]].every(Number.isFinite)) return;
    result.exact = Math.max(result.exact, Math.abs(a[i]! - value));
    result.plain = Math.max(result.plain, Math.abs(b[i]! - value));
  });
  return result;
}

const rowMajorStrides = (shape: readonly number[]): number[] =>
  shape.map((_, d) => shape.slice(d + 1).reduce((product, size) => product * size, 1));

const comparable = (own: TensorData, other: TensorData): boolean =>
  other.dtype === own.dtype && other.shape.join() === own.shape.join();
