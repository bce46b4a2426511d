import { TRAINING } from "../../src/compiler/training/wrapTraining.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { floatTensor } from "../../src/onnx/tensorData.ts";
import type { Execute } from "../../src/player/executeRun.ts";
import type { KnownProgram } from "../../src/player/execution.ts";
import { trainable, trainingBatch, trainingInputs } from "../models/trainable.ts";
import type { Adversary } from "./adversary.ts";
import { WrongExecution } from "./executions.ts";

const ITEMS = 6;
const RATE = 0.25;
/** The item that liars lie in. */
const ITEM = 3;

/** What is trained, honestly: its jobs' weights have momentum. */
export const trainedHonestly = trainable({ loss: "crossEntropy", optimiser: "momentum" });

/** The same but with the loss of another task: the class is always the first. */
const constantLabels = (): Uint8Array => new Uint8Array(8 * trainingBatch(0).labels.length);

type Given = Map<string, Uint8Array>;
/** What a liar reads in place of what an item is given. @param before What items were given so far. */
type Misread = (given: Given, before: readonly Given[]) => Record<string, Uint8Array>;

/** A worker of a training run that reads something else in one item, or leaves the weights as they are. */
class DishonestTrainer extends WrongExecution {
  readonly name: string;
  protected override readonly items = ITEMS;
  protected execute: Execute;
  protected override program = (): KnownProgram => trainedHonestly.program;
  protected override inputs = (): Uint8Array[] => trainingInputs(trainedHonestly, ITEMS, RATE);

  constructor(name: string, misread: Misread | "skip") {
    super();
    this.name = name;
    const before: Given[] = [];
    this.execute = (model, inputs) => {
      const given: Given = new Map(model.inputs.map((input, k) => [input.name, inputs[k]!] as const));
      const index = given.get(TRAINING.index)!;
      const item = Number(new DataView(index.buffer, index.byteOffset).getBigInt64(0, true));
      before[item] = given;
      if (item !== ITEM) return Promise.resolve(executeReference(model, inputs));
      const read = misread === "skip" ? {} : misread(given, before);
      const { program } = model;
      const stepOf = (input: string): number => {
        const at = model.inputs.findIndex(({ name: each }) => each === input);
        const { source } = program.inputs[at]!;
        return source?.kind === "carried" ? program.checkpoints[source.checkpoint]!.step : -1;
      };
      const carried = [TRAINING.weights, TRAINING.state(0)];
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

/** Liars about the training of a tiny model. */
export const DISHONEST_TRAINERS: readonly Adversary[] = [
  new DishonestTrainer("skips one update", "skip"),
  new DishonestTrainer("trains on another batch", () => ({ x: floatTensor(trainingBatch(0).x).bytes })),
  new DishonestTrainer("scales the learning rate", () => ({ [TRAINING.rates]: floatTensor([2 * RATE]).bytes })),
  new DishonestTrainer("keeps a stale optimiser state", (_, before) => ({
    [TRAINING.state(0)]: before[ITEM - 1]!.get(TRAINING.state(0))!,
  })),
  new DishonestTrainer("follows the gradient of another loss", () => ({ [TRAINING.labels]: constantLabels() })),
];
