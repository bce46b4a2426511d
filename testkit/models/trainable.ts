import { compile } from "../../src/compiler/compile.ts";
import type { TrainSpec } from "../../src/compiler/wraps/trainSpec.ts";
import { wrapTraining, type TrainingRun } from "../../src/compiler/wraps/wrapTraining.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { floatTensor, int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { knownProgram, type KnownProgram } from "../../src/dispute/run/execution.ts";
import { buildModel } from "../onnx/onnxBuilder.ts";

/** Pictures per batch, numbers per picture, classes, and the hidden width. */
export const TRAINABLE = { batch: 4, inputs: 3, classes: 2, hidden: 5 } as const;
const { batch, inputs, classes, hidden } = TRAINABLE;

/** Numbers that look random, between -1 and 1. */
const wave = (count: number, phase: number): number[] =>
  Array.from({ length: count }, (_, k) => Math.round(64 * Math.sin(7 * k + phase)) / 64);

/** A tiny classifier of two layers: x [4, 3] to scores [4, 2]. */
export const trainableModel = (): Uint8Array =>
  buildModel({
    opset: 18,
    inputs: [{ name: "x", dtype: DType.float32, shape: [batch, inputs] }],
    outputs: [{ name: "scores", dtype: DType.float32 }],
    nodes: [
      { op: "Gemm", inputs: ["x", "w1", "b1"], outputs: ["h"] },
      { op: "Relu", inputs: ["h"], outputs: ["r"] },
      { op: "Gemm", inputs: ["r", "w2", "b2"], outputs: ["scores"] },
    ],
    initializers: {
      w1: floatTensor(wave(inputs * hidden, 1), [inputs, hidden]),
      b1: floatTensor(wave(hidden, 2), [hidden]),
      w2: floatTensor(wave(hidden * classes, 3), [hidden, classes]),
      b2: floatTensor(wave(classes, 4), [classes]),
    },
  });

/** Returns the model as a training run, with the run's program. */
export function trainable(spec: TrainSpec): { spec: TrainSpec; wrapped: TrainingRun; program: KnownProgram } {
  const wrapped = wrapTraining(readModel(trainableModel()), spec);
  return { spec, wrapped, program: knownProgram(compile(wrapped.model, { shapes: {}, run: wrapped.run })) };
}

/** Returns an item's batch. A picture belongs to class 1 if the picture's numbers sum to more than 0. */
export function trainingBatch(item: number): { x: number[]; labels: number[] } {
  const x = wave(batch * inputs, 10 + item);
  const sumOf = (row: number): number => x.slice(row * inputs, (row + 1) * inputs).reduce((sum, each) => sum + each, 0);
  return { x, labels: Array.from({ length: batch }, (_, row) => Number(sumOf(row) > 0)) };
}

/** Returns the inputs for a job of the run, in the program's order. */
export function trainingInputs({ wrapped, program }: ReturnType<typeof trainable>, items: number, rate: number) {
  const batches = Array.from({ length: items }, (_, item) => trainingBatch(item));
  const given = new Map([
    ["x", floatTensor(batches.flatMap(({ x }) => x)).bytes],
    ["labels", int64Tensor(batches.flatMap(({ labels }) => labels)).bytes],
    ["rates", floatTensor([rate]).bytes],
    ["index", new Uint8Array(0)],
  ]);
  return program.model.inputs.map(({ name }) => given.get(name) ?? wrapped.initial.get(name)!.bytes);
}
