import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { UnsupportedOperatorError } from "../../../src/compiler/errors.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import type { TensorData } from "../../../src/model/onnx/model.ts";
import { int64Tensor, numberTensor } from "../../../src/model/onnx/tensorData.ts";
import { buildModel, type NodeSpec } from "../../../testkit/onnx/onnxBuilder.ts";

const F = DType.float32;
const float = (name: string, shape: readonly number[] = []) => ({ name, dtype: F, shape });
const op = (name: string, inputs: readonly string[], output: string): NodeSpec => ({
  op: name,
  inputs,
  outputs: [output],
});
/** s * x + the sum of x * w, which the body reads from outside. */
const update = (next: string): NodeSpec[] => [
  op("Mul", ["s", "xt"], "a"),
  op("Mul", ["w", "xt"], "b"),
  { ...op("ReduceSum", ["b"], "c"), attributes: { keepdims: 0 } },
  op("Add", ["a", "c"], next),
];

/** Gradients by x and w, both float32[3], of the sum of y. */
function gradientsOf(nodes: readonly NodeSpec[], initializers: Record<string, TensorData>, x: number[], w: number[]) {
  const names = ["x", "w"];
  const compiled = compile(
    readModel(
      buildModel({
        ...{ opset: 21, irVersion: 10, initializers },
        inputs: names.map((name) => float(name, [3])),
        outputs: [float("dx"), float("dw")],
        nodes: [
          ...nodes,
          {
            ...{ op: "Gradient", domain: "ai.onnx.preview.training", inputs: names, outputs: ["dx", "dw"] },
            attributes: { xs: { strings: names }, y: "y" },
          },
        ],
      }),
    ),
    { shapes: {}, seed: 7n },
  );
  const tensors = executeReference(
    compiled,
    [x, w].map((values) => numberTensor(F, values).bytes),
  );
  const { outputs, checkpoints } = compiled.program;
  return outputs.map((each) => [...new Float32Array(Uint8Array.from(tensors[checkpoints[each]!.step]!).buffer)]);
}

/** Central differences in float64. */
function differences(f: (x: number[], w: number[]) => number, x: number[], w: number[]): number[][] {
  const by = (list: number[], call: (moved: number[]) => number): number[] =>
    list.map((value, k) => (call(list.with(k, value + 1e-5)) - call(list.with(k, value - 1e-5))) / 2e-5);
  return [by(x, (moved) => f(moved, w)), by(w, (moved) => f(x, moved))];
}

function near(got: readonly number[][], expected: readonly number[][]): void {
  expected.forEach((list, k) => list.forEach((value, i) => expect(got[k]![i]).to.be.closeTo(value, 1e-4)));
}

const [X, W] = [
  [0.5, -1.25, 2],
  [0.75, 1.5, -0.5],
];
const total = (list: readonly number[]): number => list.reduce((sum, each) => sum + each, 0);

describe("gradients through bodies", () => {
  for (const backwards of [0, 1])
    it(`Scan from the ${backwards ? "end" : "start"}: the state, what is scanned, what is read from outside`, () => {
      const body = {
        inputs: [float("s"), float("xt")],
        outputs: [float("next"), float("shown")],
        nodes: [...update("next"), op("Tanh", ["next"], "shown")],
      };
      const nodes: NodeSpec[] = [
        { ...op("ReduceSum", ["w"], "begin"), attributes: { keepdims: 0 } },
        {
          ...{ op: "Scan", inputs: ["begin", "x"], outputs: ["last", "all"] },
          attributes: { num_scan_inputs: 1, body: { graph: body }, scan_input_directions: [backwards] },
        },
        op("Mul", ["all", "last"], "y"),
      ];
      const f = (x: number[], w: number[]): number => {
        let s = total(w);
        const shown = (backwards ? x.toReversed() : x).map((xt) => Math.tanh((s = s * xt + xt * total(w))));
        return total(shown) * s;
      };
      near(gradientsOf(nodes, {}, X, W), differences(f, X, W));
    });

  it("Loop with a known number of iterations", () => {
    const body = {
      inputs: [{ name: "i", dtype: DType.int64, shape: [] }, { name: "on", dtype: DType.bool, shape: [] }, float("s")],
      outputs: [{ name: "still", dtype: DType.bool, shape: [] }, float("next"), float("shown")],
      nodes: [
        op("Gather", ["x", "i"], "xt"),
        ...update("next"),
        op("Identity", ["on"], "still"),
        op("Sin", ["next"], "shown"),
      ],
    };
    const nodes: NodeSpec[] = [
      { ...op("ReduceSum", ["x"], "begin"), attributes: { keepdims: 0 } },
      { op: "Loop", inputs: ["times", "", "begin"], outputs: ["last", "all"], attributes: { body: { graph: body } } },
      op("Mul", ["all", "last"], "y"),
    ];
    const f = (x: number[], w: number[]): number => {
      let s = total(x);
      const shown = x.slice(0, 2).map((xt) => Math.sin((s = s * xt + xt * total(w))));
      return total(shown) * s;
    };
    near(gradientsOf(nodes, { times: int64Tensor([2], []) }, X, W), differences(f, X, W));
  });

  for (const by of ["data", "a constant"] as const)
    it(`If by ${by}: the branch that is taken`, () => {
      const branch = (nodes: readonly NodeSpec[]) => ({ graph: { inputs: [], outputs: [float("z", [3])], nodes } });
      const nodes: NodeSpec[] = [
        ...(by === "data"
          ? [{ ...op("ReduceSum", ["x"], "sum"), attributes: { keepdims: 0 } }, op("Greater", ["sum", "zero"], "on")]
          : []),
        {
          ...op("If", ["on"], "y"),
          attributes: {
            then_branch: branch([op("Mul", ["x", "w"], "m"), op("Mul", ["m", "x"], "z")]),
            else_branch: branch([op("Exp", ["w"], "z")]),
          },
        },
      ];
      const initializers = {
        zero: numberTensor(F, [0], []),
        ...(by === "data" ? {} : { on: numberTensor(DType.bool, [1], []) }),
      };
      const f = (x: number[], w: number[]): number => total(x.map((v, k) => v * v * w[k]!));
      const other = (x: number[], w: number[]): number => total(w.map((v) => Math.exp(v))) + 0 * total(x);
      near(gradientsOf(nodes, initializers, X, W), differences(f, X, W));
      const negative = X.map((v) => -v);
      near(gradientsOf(nodes, initializers, negative, W), differences(by === "data" ? other : f, negative, W));
    });

  it("refuses by name a body that draws: evaluated once more, it might draw other numbers", () => {
    const draws = {
      graph: {
        inputs: [],
        outputs: [float("z", [3])],
        nodes: [
          { ...op("RandomUniformLike", ["x"], "r"), attributes: { seed: { float: 7 } } },
          op("Mul", ["x", "r"], "m"),
          op("Mul", ["m", "w"], "z"),
        ],
      },
    };
    const nodes: NodeSpec[] = [{ ...op("If", ["on"], "y"), attributes: { then_branch: draws, else_branch: draws } }];
    const initializers = { on: numberTensor(DType.bool, [1], []) };
    expect(() => gradientsOf(nodes, initializers, X, W)).to.throw(
      UnsupportedOperatorError,
      /If.*draws numbers \(RandomUniformLike\)/,
    );
  });
});
