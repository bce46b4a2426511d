import { compile, type CompileOptions } from "../compiler/compile.ts";
import { createExecutor } from "../executor/createExecutor.ts";
import { DType } from "../numerics/dtype.ts";
import type { Model } from "../model/onnx/model.ts";
import type { CompiledModel, TensorInfo } from "../program/compiled.ts";
import { decidingTensor } from "./decidingTensor.ts";
import { NativeModelError } from "./errors.ts";
import type { NativeResult } from "./nativeRuntime.ts";

/** An exact execution that also gives the deciding tensors. */
export type ExactDeciding = {
  /** The deciding tensors in exact execution. */
  deciding: readonly TensorInfo[];
  run: (inputs: readonly Uint8Array[]) => Promise<NativeResult>;
  close: () => Promise<void>;
};

/**
 * Opens a model's exact execution with the deciding tensors as further outputs. The program differs from the model's
 * own program but has the same values.
 * @param model The model compiled for the program.
 * @param names The names of the deciding tensors.
 * @throws NativeModelError, and the compiler's and the executor's errors
 */
export async function openExactDeciding(
  model: Model,
  names: readonly string[],
  options: CompileOptions,
): Promise<ExactDeciding> {
  const { outputs } = model.graph;
  const known = new Set(outputs.map(({ name }) => name));
  // The compiler takes type and shape from the value itself.
  const more = names
    .filter((name) => !known.has(name))
    .map((name) => ({ name, dtype: DType.float32, shape: undefined }));
  const compiled = compile({ ...model, graph: { ...model.graph, outputs: [...outputs, ...more] } }, options);
  const executor = await createExecutor(compiled);
  const stepOf = new Map(compiled.outputs.map(({ name }, k) => [name, outputStep(compiled, k)]));
  const infoOf = new Map(compiled.outputs.map((info) => [info.name, info]));
  const steps = new Set(stepOf.values());
  // A program has no outputs without elements.
  const kept = outputs.filter(({ name }) => stepOf.has(name));
  const deciding = names.map((name) => {
    const info = infoOf.get(name);
    if (info === undefined) throw new NativeModelError(`${name} decides and has no elements: it is not compared`);
    return info;
  });
  return {
    deciding,
    async run(inputs) {
      const { tensors } = await executor.run(inputs, { keep: (step) => steps.has(step) });
      const bytesOf = (name: string): Uint8Array => tensors[stepOf.get(name)!]!;
      return {
        outputs: kept.map(({ name }) => bytesOf(name)),
        deciding: new Map(
          deciding.map(({ name, dtype, shape }) => [name, decidingTensor(bytesOf(name), dtype, shape)]),
        ),
      };
    },
    close: () => executor.close(),
  };
}

const outputStep = ({ program }: CompiledModel, output: number): number =>
  program.checkpoints[program.outputs[output]!]!.step;
