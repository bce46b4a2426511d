import { expect } from "chai";
import { TrainingError } from "../../../src/compiler/errors.ts";
import { parseLoss, parseOptimiser, type TrainSpec } from "../../../src/compiler/wraps/trainSpec.ts";
import { weightsByName, wrapTraining } from "../../../src/compiler/wraps/wrapTraining.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { RunInputs } from "../../../src/program/trace/runInputs.ts";
import { runItems } from "../../../src/program/trace/runItems.ts";
import {
  trainable,
  TRAINABLE,
  trainableModel,
  trainingBatch,
  trainingInputs,
} from "../../../testkit/models/trainable.ts";

const { batch, inputs: width, classes, hidden } = TRAINABLE;
const floatsOf = (bytes: Uint8Array): number[] => [...new Float32Array(Uint8Array.from(bytes).buffer)];

/** Losses of all items, and the weights after the last one. */
async function trained(spec: TrainSpec, items: number, rate: number) {
  const of = trainable(spec);
  const { program } = of.program.model;
  const inputs = new RunInputs(program.inputs, { items, firstItem: 0 }, trainingInputs(of, items, rate));
  const [loss, weights] = program.outputs.map((each) => program.checkpoints[each]!.step) as [number, number];
  const losses: number[] = [];
  let last: Uint8Array = new Uint8Array(0);
  const execute = (given: readonly Uint8Array[]) => Promise.resolve(executeReference(of.program.model, given));
  for await (const tensors of runItems(program, inputs, execute)) {
    losses.push(floatsOf(tensors[loss]!)[0]!);
    last = tensors[weights]!;
  }
  return { losses, weights: weightsByName(last, of.wrapped.parts), first: of.wrapped.initial.get("weights")! };
}

/** One step of gradient descent of the model, in float64 and by hand. */
function byHand(vector: readonly number[], item: number, rate: number): { loss: number; next: number[] } {
  const { x, labels } = trainingBatch(item);
  const [w1, b1] = [vector.slice(0, width * hidden), vector.slice(width * hidden, (width + 1) * hidden)];
  const rest = vector.slice((width + 1) * hidden);
  const [w2, b2] = [rest.slice(0, hidden * classes), rest.slice(hidden * classes)];
  const gradient = new Array<number>(vector.length).fill(0);
  const at = { b1: width * hidden, w2: (width + 1) * hidden, b2: (width + 1) * hidden + hidden * classes };
  let loss = 0;
  for (let n = 0; n < batch; n++) {
    const h = b1.map(
      (b, j) => b + x.slice(n * width, (n + 1) * width).reduce((s, v, i) => s + v * w1[i * hidden + j]!, 0),
    );
    const r = h.map((v) => Math.max(v, 0));
    const scores = b2.map((b, c) => b + r.reduce((s, v, j) => s + v * w2[j * classes + c]!, 0));
    const total = scores.reduce((s, v) => s + Math.exp(v), 0);
    loss -= (scores[labels[n]!]! - Math.log(total)) / batch;
    const d = scores.map((v, c) => (Math.exp(v) / total - Number(c === labels[n])) / batch);
    d.forEach((v, c) => {
      gradient[at.b2 + c]! += v;
      r.forEach((each, j) => (gradient[at.w2 + j * classes + c]! += each * v));
    });
    h.forEach((v, j) => {
      if (v <= 0) return;
      const own = d.reduce((s, each, c) => s + each * w2[j * classes + c]!, 0);
      gradient[at.b1 + j]! += own;
      for (let i = 0; i < width; i++) gradient[i * hidden + j]! += own * x[n * width + i]!;
    });
  }
  return { loss, next: vector.map((v, k) => v - rate * gradient[k]!) };
}

describe("training runs", () => {
  it("gradient descent follows what is computed by hand in float64", async () => {
    const { losses, weights, first } = await trained({ loss: "crossEntropy", optimiser: "sgd" }, 5, 0.5);
    let vector = floatsOf(first.bytes);
    losses.forEach((loss, item) => {
      const expected = byHand(vector, item, 0.5);
      expect(loss).to.be.closeTo(expected.loss, 1e-5);
      vector = expected.next;
    });
    const got = [...weights.values()].flatMap(({ bytes }) => floatsOf(bytes));
    got.forEach((value, k) => expect(value).to.be.closeTo(vector[k]!, 1e-5));
    expect([...weights.keys()]).to.deep.equal(["w1", "b1", "w2", "b2"]);
  });

  for (const optimiser of ["momentum", "nesterov", "adagrad", "adam"] as const)
    it(`${optimiser} makes the loss smaller`, async () => {
      const { losses } = await trained({ loss: "crossEntropy", optimiser }, 40, 0.05);
      const mean = (list: readonly number[]): number => list.reduce((sum, each) => sum + each, 0) / list.length;
      expect(mean(losses.slice(-10))).to.be.below(0.8 * mean(losses.slice(0, 10)));
    });

  it("frozen weights are no part of the vector; the loss of an output that is no class is mse", () => {
    const { wrapped } = trainable({ loss: "mse", optimiser: "sgd", frozen: ["w1", "b1"] });
    expect(wrapped.parts.map(({ name }) => name)).to.deep.equal(["w2", "b2"]);
    expect(wrapped.model.graph.inputs.find(({ name }) => name === "labels")?.shape).to.deep.equal([batch, classes]);
  });

  it("each item has its own rate from a list, later ones the last", () => {
    const { program } = trainable({ loss: "crossEntropy", optimiser: "sgd", rates: 7 });
    expect(program.model.inputs.find(({ name }) => name === "rates")?.shape).to.deep.equal([7]);
  });

  it("refuses by name", () => {
    const model = readModel(trainableModel());
    const refusal = (spec: Partial<TrainSpec>, why: RegExp): void => {
      const whole = { loss: "crossEntropy", optimiser: "sgd", ...spec } as const;
      expect(() => wrapTraining(model, whole)).to.throw(TrainingError, why);
    };
    refusal({ output: "h" }, /no output "h"; its outputs are "scores"/);
    refusal({ loss: "output" }, /"scores" has \[4, 2\], expected one number/);
    refusal({ frozen: ["w3"] }, /no weight "w3"/);
    refusal({ frozen: ["w1", "b1", "w2", "b2"] }, /no initializer .* left to train/);
    refusal({ rates: 0 }, /0 rates/);
    expect(() => parseLoss("hinge")).to.throw(TrainingError, /crossEntropy, mse, output/);
    expect(() => parseOptimiser("lion")).to.throw(TrainingError, /sgd, momentum/);
    expect(() => parseOptimiser("adam,gamma=1")).to.throw(TrainingError, /alpha=NUMBER/);
    expect(parseOptimiser("adam,beta=0.99")).to.deep.equal({ optimiser: "adam", attributes: { beta: 0.99 } });
  });
});
