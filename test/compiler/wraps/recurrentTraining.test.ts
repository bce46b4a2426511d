import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { wrapTraining } from "../../../src/compiler/wraps/wrapTraining.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { concatenated } from "../../../src/program/merkle/concatenated.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { int64Tensor, numberTensor } from "../../../src/model/onnx/tensorData.ts";
import { RunInputs } from "../../../src/program/trace/runInputs.ts";
import { runItems } from "../../../src/program/trace/runItems.ts";
import { itAtLength, itInTime } from "../../../testkit/atLength.ts";
import { buildModel } from "../../../testkit/onnx/onnxBuilder.ts";

const F = DType.float32;
const [TIMES, BATCH, WIDTH, HIDDEN] = [5, 8, 2, 4];

/** Numbers between -1 and 1 that look random, the same in every run. */
const drawn = (count: number, seed: number): number[] =>
  Array.from({ length: count }, (_, i) => {
    const x = Math.sin((i + 1) * 12.9898 + seed * 78.233) * 43758.5453;
    return 2 * (x - Math.floor(x)) - 1;
  });

/** A recurrent layer over five times, whose last state is classified. */
function recurrentModel(op: "LSTM" | "GRU" | "RNN") {
  const rows = { LSTM: 4, GRU: 3, RNN: 1 }[op] * HIDDEN;
  const weights = (shape: readonly number[], seed: number) =>
    numberTensor(
      F,
      drawn(
        shape.reduce((a, b) => a * b),
        seed,
      ).map((v) => v / 2),
      [...shape],
    );
  return readModel(
    buildModel({
      ...{ opset: 21, irVersion: 10 },
      inputs: [{ name: "x", dtype: F, shape: [TIMES, BATCH, WIDTH] }],
      outputs: [{ name: "scores", dtype: F }],
      nodes: [
        { op, inputs: ["x", "w", "r", "b"], outputs: ["", "last"], attributes: { hidden_size: HIDDEN } },
        { op: "Squeeze", inputs: ["last", "zero"], outputs: ["h"] },
        { op: "Gemm", inputs: ["h", "v", "c"], outputs: ["scores"] },
      ],
      initializers: {
        w: weights([1, rows, WIDTH], 1),
        r: weights([1, rows, HIDDEN], 2),
        b: weights([1, 2 * rows], 3),
        v: weights([HIDDEN, 2], 4),
        c: numberTensor(F, [0, 0]),
        zero: int64Tensor([0]),
      },
    }),
  );
}

describe("training of recurrent layers", () => {
  for (const op of ["LSTM", "GRU", "RNN"] as const)
    (op === "LSTM" ? itAtLength : itInTime)(`${op} learns whether a sequence's sum is positive`, async () => {
      const { model, run, parts, initial } = wrapTraining(recurrentModel(op), {
        loss: "crossEntropy",
        optimiser: "adam",
      });
      expect(parts.map(({ name }) => name)).to.deep.equal(["w", "r", "b", "v", "c"]);
      const compiled = compile(model, { shapes: {}, run });
      const { program } = compiled;
      const items = 60;
      const batches = Array.from({ length: items }, (_, k) => drawn(TIMES * BATCH * WIDTH, 10 + k));
      const labels = batches.map((x) =>
        Array.from({ length: BATCH }, (_, n) => {
          const own = x.filter((_, i) => Math.floor(i / WIDTH) % BATCH === n);
          return Number(own.reduce((sum, v) => sum + v, 0) > 0);
        }),
      );
      const given = new Map([
        ["x", concatenated(batches.map((x) => numberTensor(F, x).bytes))],
        ["labels", concatenated(labels.map((all) => int64Tensor(all).bytes))],
        ["rates", numberTensor(F, [0.05]).bytes],
        ...[...initial].map(([name, { bytes }]) => [name, bytes] as const),
      ]);
      const inputs = new RunInputs(
        program.inputs,
        { items, firstItem: 0 },
        compiled.inputs.map(({ name }) => given.get(name) ?? new Uint8Array(0)),
      );
      const lossStep = program.checkpoints[program.outputs[0]!]!.step;
      const losses: number[] = [];
      const execute = (tensors: readonly Uint8Array[]) => Promise.resolve(executeReference(compiled, tensors));
      for await (const tensors of runItems(program, inputs, execute))
        losses.push(new Float32Array(Uint8Array.from(tensors[lossStep]!).buffer)[0]!);
      const mean = (list: readonly number[]): number => list.reduce((sum, each) => sum + each, 0) / list.length;
      expect(mean(losses.slice(-10))).to.be.below(0.7 * mean(losses.slice(0, 10)));
    });
});
