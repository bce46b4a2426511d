import { compile } from "../../src/compiler/compile.ts";
import type { TrainSpec } from "../../src/compiler/wraps/trainSpec.ts";
import { TRAINING, weightsByName, type TrainingRun } from "../../src/compiler/wraps/wrapTraining.ts";
import { floatsOf, itemOutputs } from "../../src/examine/train/itemOutputs.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { replaceInitializers } from "../../src/model/onnx/replaceInitializers.ts";
import { prepareModel } from "../../src/compiler/wraps/modelSpec.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import { RunInputs } from "../../src/program/trace/runInputs.ts";

/** What a batch gives, by input. */
type Batch = Readonly<Record<string, Uint8Array>>;

/** A training run: a model, how it is trained, the rate and the batch of each item. */
export type Training = {
  onnx: Uint8Array;
  spec: Omit<TrainSpec, "rates">;
  rates: Float32Array;
  batch: (item: number) => Batch;
};

export type Trained = {
  /** The model with its trained weights. */
  model: Uint8Array;
  /** Of each item, before its update. */
  losses: number[];
  /** Of the run alone, in all. */
  milliseconds: number;
};

export const floats = (values: Float32Array): Uint8Array => new Uint8Array(values.buffer);

/** The run of a training, before it is compiled. */
export function prepareTraining({ onnx, spec, rates }: Training): TrainingRun {
  const train = { ...spec, rates: rates.length };
  const { model, run, training } = prepareModel(readModel(onnx), { bind: {}, uint8: [], train });
  return { model, run: run!, ...training! };
}

/** The inputs of a training's job, in the order of its program. */
export function trainingBytes(
  { rates, batch }: Training,
  { inputs }: CompiledModel,
  initial: TrainingRun["initial"],
): Uint8Array[] {
  const batches = Array.from(rates, (_, item) => batch(item));
  return inputs.map(({ name }) => {
    if (name === TRAINING.rates) return floats(rates);
    if (name === TRAINING.index) return new Uint8Array(0);
    return initial.get(name)?.bytes ?? Buffer.concat(batches.map((each) => each[name]!));
  });
}

/**
 * Trains a model as one run, executed exactly.
 * @param note Receives a line about the program, and one every hundred items.
 */
export async function train(training: Training, note: (text: string) => void = () => undefined): Promise<Trained> {
  const items = training.rates.length;
  const { model, run, parts, initial } = prepareTraining(training);
  const compiled = compile(model, { shapes: {}, run });
  const { program, programRoot } = compiled;
  const weights = initial.get(TRAINING.weights)!.shape[0]!;
  note(`${weights} weights; a step is ${program.steps.length} steps of the program ${programRoot.slice(0, 10)}`);
  const bytes = trainingBytes(training, compiled, initial);
  const losses: number[] = [];
  let last: Uint8Array = new Uint8Array(0);
  const start = performance.now();
  const seconds = (): string => ((performance.now() - start) / 1_000).toFixed(1);
  for await (const outputOf of itemOutputs(compiled, new RunInputs(program.inputs, { items, firstItem: 0 }, bytes))) {
    losses.push(floatsOf(outputOf(TRAINING.loss))[0]!);
    last = outputOf(TRAINING.next(TRAINING.weights));
    if (losses.length % 100 === 0)
      note(`item ${losses.length}: loss ${mean(losses.slice(-100)).toFixed(3)}, ${seconds()} s`);
  }
  const milliseconds = performance.now() - start;
  return { model: replaceInitializers(training.onnx, weightsByName(last, parts)), losses, milliseconds };
}

/** A rate for each item that falls from `from` to nothing as a quarter of a wave does. */
export const fallingRates = (items: number, from: number): Float32Array =>
  Float32Array.from({ length: items }, (_, item) => (from * (1 + Math.cos((Math.PI * item) / items))) / 2);

export const mean = (values: readonly number[]): number => values.reduce((sum, x) => sum + x, 0) / values.length;
