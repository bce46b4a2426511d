import type { TensorData } from "../../onnx/model.ts";
import type { CompiledModel, TensorInfo } from "../../program/compiled.ts";
import { differenceOf, type Difference } from "./difference.ts";
import { gatherValue } from "./gatherValue.ts";
import { plainOutputs, plainValues } from "./plainRun.ts";

/** Exact execution beside plain onnxruntime. */
export type Comparison = {
  /** For each output; `shape` where onnxruntime gives another shape or type. */
  outputs: ({ name: string } & (Difference | { shape: string }))[];
  /** Values inside the graph that could be compared. */
  compared: number;
  /** The first value, in the order of the program, that is outside float32 tolerance. */
  firstDifferent: { name: string; step: number; operator: string; difference: Difference } | undefined;
};

/** The tensors of the model's outputs. */
export function outputTensors({ program, outputs }: CompiledModel, tensors: readonly Uint8Array[]) {
  return outputs.map((info, k): TensorInfo & TensorData => ({
    ...info,
    bytes: tensors[program.checkpoints[program.outputs[k]!]!.step]!,
  }));
}

/**
 * Runs the model file in plain onnxruntime on the same inputs and compares.
 * @param tensors One for each step, of the exact execution.
 */
export async function compare(
  path: string,
  model: CompiledModel,
  inputs: ReadonlyMap<string, TensorData>,
  tensors: readonly Uint8Array[],
): Promise<Comparison> {
  const plain = await plainOutputs(path, inputs);
  const outputs = outputTensors(model, tensors).map((own) => {
    const { name } = own;
    const other = plain.get(name);
    if (other !== undefined && comparable(own, other)) return { name, ...differenceOf(own, other) };
    return { name, shape: other === undefined ? "another type" : `[${other.shape.join(", ")}]` };
  });

  const places = [...(model.places ?? [])].sort(([, a], [, b]) => a.step - b.step);
  const values = await plainValues(
    path,
    inputs,
    places.map(([name]) => name),
  );
  let compared = 0;
  let firstDifferent: Comparison["firstDifferent"];
  for (const [name, place] of places) {
    const other = values?.get(name);
    const own = gatherValue(place, tensors[place.step]!);
    if (other === undefined || !comparable(own, other)) continue;
    compared++;
    const difference = differenceOf(own, other);
    if (difference.first === undefined) continue;
    firstDifferent = { name, step: place.step, operator: model.origins[place.step]!.operator, difference };
    break;
  }
  return { outputs, compared, firstDifferent };
}

const comparable = (own: TensorData, other: TensorData): boolean =>
  other.dtype === own.dtype && other.shape.join() === own.shape.join();
