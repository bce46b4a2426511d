import { TRAINING } from "../../src/compiler/training/wrapTraining.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { floatTensor, int64Tensor } from "../../src/onnx/tensorData.ts";
import type { Execute } from "../../src/player/executeRun.ts";
import type { KnownProgram } from "../../src/player/execution.ts";
import { trainable, trainingBatch, trainingInputs } from "../models/trainable.ts";
import type { Adversary } from "./adversary.ts";
import { WrongExecution } from "./executions.ts";

/** A job of training, and the item that liars lie in: not the first. */
export type TrainingLie = { trained: ReturnType<typeof trainable>; items: number; item: number; rate: number };

/** What is trained, honestly: its jobs' weights have momentum. */
export const trainedHonestly = trainable({ loss: "crossEntropy", optimiser: "momentum" });

/** The labels of another task, in which each of the two classes is the other one. */
const otherLabels = (item: number): Uint8Array =>
  int64Tensor(trainingBatch(item).labels.map((label) => 1 - label)).bytes;

type Given = Map<string, Uint8Array>;
/** What a liar reads in place of what an item is given. @param before What items were given so far. */
type Misread = (given: Given, before: readonly Given[]) => Record<string, Uint8Array>;

/** A worker of a training run that reads something else in one item, or leaves the weights as they are. */
class DishonestTrainer extends WrongExecution {
  readonly name: string;
  protected override readonly items: number;
  protected execute: Execute;
  protected override program: () => KnownProgram;
  protected override inputs: () => Uint8Array[];

  constructor(name: string, lie: TrainingLie, misread: Misread | "skip") {
    super();
    [this.name, this.items] = [name, lie.items];
    this.program = () => lie.trained.program;
    this.inputs = () => trainingInputs(lie.trained, lie.items, lie.rate);
    const before: Given[] = [];
    this.execute = (model, inputs) => {
      const given: Given = new Map(model.inputs.map((input, k) => [input.name, inputs[k]!] as const));
      const index = given.get(TRAINING.index)!;
      const at = Number(new DataView(index.buffer, index.byteOffset).getBigInt64(0, true));
      before[at] = given;
      if (at !== lie.item) return Promise.resolve(executeReference(model, inputs));
      const read = misread === "skip" ? {} : misread(given, before);
      const { program } = model;
      const stepOf = (input: string): number => {
        const at = model.inputs.findIndex(({ name: each }) => each === input);
        const { source } = program.inputs[at]!;
        return source?.kind === "carried" ? program.checkpoints[source.checkpoint]!.step : -1;
      };
      const carried = [...lie.trained.wrapped.initial.keys()];
      return Promise.resolve(
        executeReference(
          model,
          model.inputs.map((input, k) => read[input.name] ?? inputs[k]!),
          {
            onStep: (step, tensor) => {
              const kept = carried.find((each) => misread === "skip" && stepOf(each) === step);
              if (kept !== undefined) tensor.set(given.get(kept)!);
            },
          },
        ),
      );
    };
  }
}

/** Liars about a job of training a tiny model. */
export function dishonestTrainers(lie: TrainingLie): Adversary[] {
  const { item, rate } = lie;
  const state = TRAINING.state(0);
  return [
    new DishonestTrainer("skips one update", lie, "skip"),
    new DishonestTrainer("trains on another batch", lie, () => ({ x: floatTensor(trainingBatch(0).x).bytes })),
    new DishonestTrainer("scales the learning rate", lie, () => ({ [TRAINING.rates]: floatTensor([2 * rate]).bytes })),
    new DishonestTrainer("keeps a stale optimiser state", lie, (_, before) => ({
      [state]: before[item - 1]!.get(state)!,
    })),
    new DishonestTrainer("follows the gradient of another loss", lie, () => ({ [TRAINING.labels]: otherLabels(item) })),
  ];
}

export const DISHONEST_TRAINERS: readonly Adversary[] = dishonestTrainers({
  trained: trainedHonestly,
  items: 6,
  item: 3,
  rate: 0.25,
});
