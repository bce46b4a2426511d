import { DType, dtypeName } from "../../numerics/dtype.ts";
import { concatenated } from "../../program/merkle/concatenated.ts";
import {
  elementCount,
  type Attribute,
  type Model,
  type Node,
  type TensorData,
  type ValueInfo,
} from "../../model/onnx/model.ts";
import { numberTensor } from "../../model/onnx/tensorData.ts";
import { Budget } from "../budget.ts";
import { TrainingError } from "../errors.ts";
import type { Typed } from "../gradients/backward.ts";
import { reachedFrom } from "../training/differentiate.ts";
import { TRAINING_DOMAIN } from "../training/expandTraining.ts";
import { Values } from "../training/values.ts";
import { bindShapes } from "../graph/bindShapes.ts";
import type { RunWiring } from "../runWiring.ts";
import { NodeList } from "../nodes.ts";
import { OPTIMISERS, type TrainSpec } from "./trainSpec.ts";

/** The prefix of all names added by the wrapping, except input and output names. */
const PREFIX = "train.";

/** The inputs and outputs that a training run has beside the model's inputs, by their names. */
export const TRAINING = {
  labels: "labels",
  rates: "rates",
  index: "index",
  weights: "weights",
  state: (k: number): string => `state_${k}`,
  loss: "loss",
  next: (name: string): string => `${name}_next`,
} as const;

/** Where a weight of the model lies in the vector of all weights. */
type WeightPart = { name: string; shape: readonly number[]; start: number };

/** A model as a training run. */
export type TrainingRun = {
  model: Model;
  run: RunWiring;
  /** The trained weights, concatenated in one vector. */
  parts: readonly WeightPart[];
  /** The initial values of carried inputs: the model's weights, zeros for the optimiser's state. */
  initial: ReadonlyMap<string, TensorData>;
};

/**
 * Wraps a model into a training run: each item takes a batch, gives the loss before the update, and updates the
 * weights. All weights form one vector, and each tensor of the optimiser's state forms another. A run therefore carries
 * two or three tensors, however many weights the model has.
 *
 * - The run trains float32 initializers with a dimension on which the loss depends, except `frozen` initializers.
 * - Momentum and Adagrad count updates from 0, Adam from 1, as usual.
 *
 * @param shapes Shapes for inputs with open dimensions.
 * @throws TrainingError naming the unfitting part, InputShapeError
 */
export function wrapTraining(
  model: Model,
  spec: TrainSpec,
  shapes: Readonly<Record<string, readonly number[]>> = {},
): TrainingRun {
  const { graph, source } = model;
  const refuse = (what: string): never => {
    throw new TrainingError(`${source} cannot be trained: ${what}`);
  };
  const bound = bindShapes(model, shapes);
  const { states, operator, attributes: defaults } = OPTIMISERS[spec.optimiser];
  const carried = [TRAINING.weights, ...Array.from({ length: states }, (_, k) => TRAINING.state(k))];
  const own = [
    TRAINING.labels,
    TRAINING.rates,
    TRAINING.index,
    TRAINING.loss,
    ...carried,
    ...carried.map(TRAINING.next),
  ];
  const made = [...graph.initializers.keys(), ...graph.nodes.flatMap(({ outputs }) => outputs)];
  const taken = [...made, ...graph.inputs.map(({ name }) => name)].find(
    (name) => name.startsWith(PREFIX) || (name !== spec.output && own.includes(name)),
  );
  if (taken !== undefined && !(spec.loss === "output" && taken === TRAINING.loss))
    refuse(`it has a value "${taken}" of its own, a name that the run needs`);

  // Any seed serves: types and shapes do not depend on the seed. Compiling the run refuses random operators without a
  // seed.
  const values = new Values(model, bound, new Budget(), 0n);
  values.add(graph.nodes);
  const [result, typed] = lossOutput(model, spec, values, refuse);
  const n = new NodeList(PREFIX);
  const { loss, labels } = lossNodes(n, spec, result, typed, refuse);
  const parts = weightParts(model, result, spec, values, refuse);
  const count = parts.reduce((sum, { shape }) => sum + elementCount(shape), 0);

  const before = new NodeList(`${PREFIX}weight.`);
  for (const { name, shape, start } of parts) {
    const end = start + elementCount(shape);
    const part = before.node("Slice", [TRAINING.weights, before.integers(start), before.integers(end)]);
    before.node("Reshape", [part, before.integers(...shape)], {}, { output: name });
  }
  const gradients = parts.map((_, k) => `${PREFIX}gradient_${k}`);
  const gradient = trainingNode(
    "Gradient",
    parts.map(({ name }) => name),
    gradients,
    [
      ["xs", { kind: "strings", value: parts.map(({ name }) => name) }],
      ["y", { kind: "string", value: loss }],
    ],
  );
  const u = new NodeList(`${PREFIX}update.`);
  const flat = gradients.map((name) => u.reshape(name, [-1]));
  const all = flat.length === 1 ? flat[0]! : u.node("Concat", flat, { axis: 0 });
  const rates = spec.rates ?? 1;
  if (!Number.isSafeInteger(rates) || rates < 1) refuse(`${rates} rates, expected a whole number from 1 on`);
  const rate = u.node("Gather", [TRAINING.rates, u.node("Min", [TRAINING.index, u.integers(rates - 1)])], { axis: 0 });
  const nextNames = carried.map(TRAINING.next);
  const update: Node[] = [];
  if (operator === undefined)
    u.node("Sub", [TRAINING.weights, u.node("Mul", [rate, all])], {}, { output: nextNames[0]! });
  else {
    const updates = spec.optimiser === "adam" ? u.node("Add", [TRAINING.index, u.integers(1)]) : TRAINING.index;
    const inputs = [rate, updates, TRAINING.weights, all, ...carried.slice(1)];
    const floats = Object.entries({ ...defaults, ...spec.attributes });
    update.push(
      trainingNode(operator, inputs, nextNames, [
        ...floats.map(([name, value]): [string, Attribute] => [name, { kind: "float", value }]),
        ...(operator === "Momentum"
          ? [["mode", { kind: "string", value: spec.optimiser === "momentum" ? "standard" : "nesterov" }] as const]
          : []),
      ]),
    );
  }
  const isTrained = new Set(parts.map(({ name }) => name));
  const vector = (name: string): ValueInfo => ({ name, dtype: DType.float32, shape: [count] });
  const inputs: ValueInfo[] = [
    ...graph.inputs.map((input, i) => ({ ...input, shape: bound[i]! })),
    ...(labels === undefined ? [] : [labels]),
    { name: TRAINING.rates, dtype: DType.float32, shape: [rates] },
    { name: TRAINING.index, dtype: DType.int64, shape: [1] },
    ...carried.map(vector),
  ];
  return {
    parts,
    initial: new Map(
      carried.map((name, k) => [
        name,
        k === 0 ? weightsOf(graph.initializers, parts) : numberTensor(DType.float32, new Array<number>(count).fill(0)),
      ]),
    ),
    model: {
      ...model,
      opsets: new Map([...model.opsets, [TRAINING_DOMAIN, 1]]),
      graph: {
        ...graph,
        inputs,
        outputs: [{ name: loss, dtype: DType.float32, shape: undefined }, ...nextNames.map(vector)],
        nodes: [...before.nodes, ...graph.nodes, ...n.nodes, gradient, ...u.nodes, ...update],
        initializers: new Map([
          ...[...graph.initializers].filter(([name]) => !isTrained.has(name)),
          ...before.initializers,
          ...n.initializers,
          ...u.initializers,
        ]),
      },
    },
    run: {
      each: [...graph.inputs.map(({ name }) => name), ...(labels === undefined ? [] : [labels.name])],
      index: [TRAINING.index],
      carried: Object.fromEntries(carried.map((name, k) => [name, nextNames[k]!])),
      eachOutputs: [loss],
      lastOutputs: nextNames,
      ...(spec.share && { share: spec.share }),
    },
  };
}

const trainingNode = (
  operator: string,
  inputs: readonly string[],
  outputs: readonly string[],
  attributes: readonly (readonly [string, Attribute])[],
): Node => ({
  ...{ name: `${PREFIX}${operator}`, operator, domain: TRAINING_DOMAIN, inputs, outputs },
  attributes: new Map(attributes),
});

/** The output that the loss takes. For a Softmax over classes the loss takes the input of the Softmax. */
function lossOutput(
  { graph }: Model,
  { output, loss }: TrainSpec,
  values: Values,
  refuse: (what: string) => never,
): [name: string, typed: Typed] {
  const outputs = graph.outputs.map(({ name }) => name);
  const name = output ?? outputs[0]!;
  if (!outputs.includes(name))
    return refuse(`it has no output "${name}"; its outputs are ${outputs.map((each) => `"${each}"`).join(", ")}`);
  const typed = values.of(name);
  if (typed?.dtype !== DType.float32)
    return refuse(`the output "${name}" is ${typed ? dtypeName(typed.dtype) : "no tensor"}, expected float32`);
  const maker = graph.nodes.find(({ outputs: given }) => given.includes(name));
  const rank = typed.shape.length;
  const axis = maker?.attributes.get("axis");
  const isLast = axis === undefined || (axis.kind === "int" && [-1, rank - 1].includes(Number(axis.value)));
  if (loss === "crossEntropy" && maker?.operator === "Softmax" && maker.domain === "" && isLast)
    return [maker.inputs[0]!, typed];
  return [name, typed];
}

function lossNodes(
  n: NodeList,
  { loss }: TrainSpec,
  result: string,
  { shape }: Typed,
  refuse: (what: string) => never,
): { loss: string; labels: ValueInfo | undefined } {
  if (loss === "output") {
    if (elementCount(shape) !== 1)
      return refuse(`the output "${result}" has [${shape.join(", ")}], expected one number`);
    return { loss: result, labels: undefined };
  }
  const output = { output: TRAINING.loss };
  if (loss === "mse") {
    const difference = n.node("Sub", [result, TRAINING.labels]);
    n.node("ReduceMean", [n.node("Mul", [difference, difference])], { keepdims: 0 }, output);
    return { loss: TRAINING.loss, labels: { name: TRAINING.labels, dtype: DType.float32, shape } };
  }
  const classes = shape.at(-1);
  if (classes === undefined || shape.length < 2)
    return refuse(`the output "${result}" has [${shape.join(", ")}], expected positions and classes`);
  const scores = n.reshape(result, [-1, classes]);
  n.node("SoftmaxCrossEntropyLoss", [scores, n.reshape(TRAINING.labels, [-1])], {}, output);
  return { loss: TRAINING.loss, labels: { name: TRAINING.labels, dtype: DType.int64, shape: shape.slice(0, -1) } };
}

function weightParts(
  { graph }: Model,
  result: string,
  { frozen = [] }: TrainSpec,
  values: Values,
  refuse: (what: string) => never,
): WeightPart[] {
  const unknown = frozen.find((name) => !graph.initializers.has(name));
  if (unknown !== undefined) refuse(`it has no weight "${unknown}" that could be frozen`);
  const reached = reachedFrom(result, graph.nodes, (name) => values.of(name)?.dtype === DType.float32);
  let start = 0;
  const parts: WeightPart[] = [];
  for (const [name, { dtype, shape }] of graph.initializers) {
    if (!reached.has(name) || frozen.includes(name) || shape.length === 0 || elementCount(shape) === 0) continue;
    if (dtype !== DType.float32) continue;
    parts.push({ name, shape, start });
    start += elementCount(shape);
  }
  if (parts.length === 0) return refuse("no initializer of float32 on which the loss depends is left to train");
  return parts;
}

/** The weights of a model as one vector. */
const weightsOf = (initializers: ReadonlyMap<string, TensorData>, parts: readonly WeightPart[]): TensorData => ({
  dtype: DType.float32,
  shape: [parts.reduce((sum, { shape }) => sum + elementCount(shape), 0)],
  bytes: concatenated(parts.map(({ name }) => initializers.get(name)!.bytes)),
});

/** Weights by their names in the model, from the vector. */
export const weightsByName = (vector: Uint8Array, parts: readonly WeightPart[]): Map<string, TensorData> =>
  new Map(
    parts.map(({ name, shape, start }) => [
      name,
      { dtype: DType.float32, shape, bytes: vector.slice(4 * start, 4 * (start + elementCount(shape))) },
    ]),
  );
