import { TRAINING } from "../../src/compiler/wraps/wrapTraining.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { floatTensor, int64Tensor } from "../../src/model/onnx/tensorData.ts";
import type { KnownProgram } from "../../src/dispute/run/execution.ts";
import { trainable, TRAINABLE, trainingBatch, trainingInputs } from "../models/trainable.ts";
import type { Adversary } from "./adversary.ts";
import { WrongExecution } from "./executions.ts";
import type { Execute } from "../../src/runs/execute.ts";

/** A training job, and the item that liars falsify, never the first item. */
type TrainingLie = { trained: ReturnType<typeof trainable>; items: number; item: number; rate: number };

/** The honestly trained model. The weights of each job have momentum. */
export const trainedHonestly = trainable({ loss: "crossEntropy", optimiser: "momentum" });

type Given = Map<string, Uint8Array>;

/**
 * A lie about an item, computed from the given inputs of the item and of all earlier items. The lie replaces inputs
 * that the item reads, or the weights and optimiser state that the item carries on. Both are keyed by input name.
 */
type Lie = {
  reads?: (given: Given, before: readonly Given[]) => Record<string, Uint8Array>;
  carries?: (given: Given, carried: readonly string[]) => ReadonlyMap<string, Uint8Array>;
};

/** A worker that lies about a single item in a training run. */
class DishonestTrainer extends WrongExecution {
  readonly name: string;
  protected override readonly items: number;
  protected execute: Execute;
  protected override program: () => KnownProgram;
  protected override inputs: () => Uint8Array[];

  constructor(name: string, of: TrainingLie, { reads, carries }: Lie) {
    super();
    [this.name, this.items] = [name, of.items];
    this.program = () => of.trained.program;
    this.inputs = () => trainingInputs(of.trained, of.items, of.rate);
    const before: Given[] = [];
    this.execute = (model, inputs) => {
      const given: Given = new Map(model.inputs.map((input, k) => [input.name, inputs[k]!] as const));
      const index = given.get(TRAINING.index)!;
      const at = Number(new DataView(index.buffer, index.byteOffset).getBigInt64(0, true));
      before[at] = given;
      if (at !== of.item) return Promise.resolve(executeReference(model, inputs));
      const read = reads?.(given, before) ?? {};
      const kept = carries?.(given, [...of.trained.wrapped.initial.keys()]) ?? new Map<string, Uint8Array>();
      const byStep = new Map([...kept].map(([input, bytes]) => [carriedStep(of.trained, input), bytes]));
      const taken = model.inputs.map((input, k) => read[input.name] ?? inputs[k]!);
      return Promise.resolve(
        executeReference(model, taken, {
          onStep: (step, tensor) => {
            const own = byStep.get(step);
            if (own !== undefined) tensor.set(own);
          },
        }),
      );
    };
  }
}

type Trained = TrainingLie["trained"];

/** Returns the step whose tensor becomes the next item's input. */
function carriedStep({ program: { model } }: Trained, input: string): number {
  const { source } = model.program.inputs[model.inputs.findIndex(({ name }) => name === input)]!;
  if (source?.kind !== "carried") throw new RangeError(`"${input}" is not carried`);
  return model.program.checkpoints[source.checkpoint]!.step;
}

/**
 * Computes the carried tensors of the same step under another loss, the squared differences between scores and classes.
 */
function ofAnotherLoss(trained: Trained, item: number, given: Given): ReadonlyMap<string, Uint8Array> {
  const other = trainable({ ...trained.spec, loss: "mse" });
  const { model } = other.program;
  const { labels } = trainingBatch(item);
  const rows = labels.flatMap((label) => Array.from({ length: TRAINABLE.classes }, (_, c) => Number(c === label)));
  const taken = model.inputs.map(({ name }) => (name === TRAINING.labels ? floatTensor(rows).bytes : given.get(name)!));
  const tensors = executeReference(model, taken);
  return new Map([...other.wrapped.initial.keys()].map((name) => [name, tensors[carriedStep(other, name)]!]));
}

/** Liars about a job of training a tiny model. */
export function dishonestTrainers(of: TrainingLie): Adversary[] {
  const { trained, item, rate } = of;
  const state = TRAINING.state(0);
  return [
    new DishonestTrainer("skips one update", of, {
      carries: (given, carried) => new Map(carried.map((name) => [name, given.get(name)!])),
    }),
    new DishonestTrainer("trains on another batch", of, {
      reads: () => ({ x: floatTensor(trainingBatch(0).x).bytes }),
    }),
    new DishonestTrainer("scales the learning rate", of, {
      reads: () => ({ [TRAINING.rates]: floatTensor([2 * rate]).bytes }),
    }),
    new DishonestTrainer("keeps a stale optimiser state", of, {
      reads: (_, before) => ({ [state]: before[item - 1]!.get(state)! }),
    }),
    new DishonestTrainer("trains on labels of another task", of, {
      reads: () => ({ [TRAINING.labels]: otherLabels(item) }),
    }),
    new DishonestTrainer("follows the gradient of another loss", of, {
      carries: (given) => ofAnotherLoss(trained, item, given),
    }),
  ];
}

/** Returns the labels of another task, where the two classes are swapped. */
const otherLabels = (item: number): Uint8Array =>
  int64Tensor(trainingBatch(item).labels.map((label) => 1 - label)).bytes;

export const DISHONEST_TRAINERS: readonly Adversary[] = dishonestTrainers({
  trained: trainedHonestly,
  items: 6,
  item: 3,
  rate: 0.25,
});
