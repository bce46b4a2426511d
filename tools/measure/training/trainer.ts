import { compile } from "../../../src/compiler/compile.ts";
import type { TrainSpec } from "../../../src/compiler/training/trainSpec.ts";
import { TRAINING, weightsByName } from "../../../src/compiler/training/wrapTraining.ts";
import { createExecutor } from "../../../src/executor/createExecutor.ts";
import { readModel } from "../../../src/onnx/readModel.ts";
import { replaceInitializers } from "../../../src/onnx/replaceInitializers.ts";
import { prepareModel } from "../../../src/player/programs/modelSpec.ts";
import { RunInputs } from "../../../src/trace/runInputs.ts";
import { keptSteps, runItems } from "../../../src/trace/runItems.ts";

/** What a batch gives, by input. */
export type Batch = Readonly<Record<string, Uint8Array>>;

export const floats = (values: Float32Array): Uint8Array => new Uint8Array(values.buffer);

/**
 * Trains a model as one run, executed exactly.
 * @param rates One an item.
 * @returns the trained model, the loss of each item, and the vector of weights
 */
export async function train(
  onnx: Uint8Array,
  spec: Omit<TrainSpec, "rates">,
  rates: Float32Array,
  batch: (item: number) => Batch,
  note: (text: string) => void = console.log,
): Promise<{ model: Uint8Array; losses: number[]; weights: Uint8Array; milliseconds: number }> {
  const items = rates.length;
  const own: TrainSpec = { ...spec, rates: items };
  const { model, run, training } = prepareModel(readModel(onnx), { bind: {}, uint8: [], train: own });
  const compiled = compile(model, { shapes: {}, run });
  const { program } = compiled;
  note(`${program.steps.length} steps, work ${program.steps.length}; program ${compiled.programRoot}`);
  const batches = Array.from({ length: items }, (_, item) => batch(item));
  const bytes = compiled.inputs.map(({ name }) => {
    const initial = training!.initial.get(name);
    if (initial !== undefined) return initial.bytes;
    if (name === TRAINING.rates) return floats(rates);
    if (name === TRAINING.index) return new Uint8Array(0);
    return Buffer.concat(batches.map((each) => each[name]!));
  });
  const executor = await createExecutor(compiled);
  const kept = keptSteps(program);
  const [loss, weights] = program.outputs.map((checkpoint) => program.checkpoints[checkpoint]!.step) as [number, number];
  const losses: number[] = [];
  let last: Uint8Array = new Uint8Array(0);
  const start = performance.now();
  const inputs = new RunInputs(program.inputs, { items, firstItem: 0 }, bytes);
  for await (const tensors of runItems(
    program,
    inputs,
    async (taken) => (await executor.run(taken, { keep: (step) => kept.has(step) })).tensors,
  )) {
    losses.push(new Float32Array(Uint8Array.from(tensors[loss]!).buffer)[0]!);
    if (losses.length % 50 === 0 || losses.length < 4)
      note(`item ${losses.length}: loss ${losses.at(-1)!.toFixed(4)}, ${Math.round(performance.now() - start)} ms`);
    last = Uint8Array.from(tensors[weights]!);
  }
  const milliseconds = performance.now() - start;
  await executor.close();
  const trained = replaceInitializers(onnx, weightsByName(last, training!.parts));
  return { model: trained, losses, weights: last, milliseconds };
}
