import { compile, type CompileOptions } from "../compiler/compile.ts";
import { createExecutor } from "../executor/createExecutor.ts";
import { DType } from "../numerics/dtype.ts";
import type { Model } from "../model/onnx/model.ts";
import type { CompiledModel, TensorInfo } from "../program/compiled.ts";
import { decidingTensor } from "./decidingTensor.ts";
import { NativeModelError } from "./errors.ts";
import type { NativeResult } from "./nativeRuntime.ts";

/** Exact execution that also gives the tensors that decide. */
export type ExactDeciding = {
  /** The tensors that decide, as exact execution has them. */
  deciding: readonly TensorInfo[];
  run: (inputs: readonly Uint8Array[]) => Promise<NativeResult>;
  close: () => Promise<void>;
};

/**
 * Opens the exact execution of a model of which the tensors that decide are outputs too. Its program is another one
 * than the model's own, with the same values.
 * @param model As it is compiled for the program.
 * @param names Of the tensors that decide.
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
