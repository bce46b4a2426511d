import { existsSync } from "node:fs";
import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { UnsupportedOperatorError } from "../../../src/compiler/errors.ts";
import { runCase } from "../../../src/examine/conform/runCase.ts";
import { survey } from "../../../src/compiler/survey.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import type { TensorData } from "../../../src/model/onnx/model.ts";
import { int64Tensor, numberTensor } from "../../../src/model/onnx/tensorData.ts";
import { buildModel, type NodeSpec } from "../../../testkit/onnx/onnxBuilder.ts";

/** Where Debian puts the ONNX tests of whole models. */
const CASES = "/usr/share/libonnx-testdata/data/simple";

const F = DType.float32;
const DOMAIN = "ai.onnx.preview.training";

const gradient = (
  y: string,
  xs: readonly string[],
  outputs: readonly string[],
  { inputs = xs, zs = [] as readonly string[] } = {},
): NodeSpec => ({
  op: "Gradient",
  domain: DOMAIN,
  inputs,
  outputs,
  attributes: { xs: { strings: xs }, y, ...(zs.length > 0 && { zs: { strings: zs } }) },
});

/** A model of float32[3] inputs. */
const modelOf = (
  nodes: readonly NodeSpec[],
  inputs: readonly string[],
  outputs: readonly string[],
  opset = 21,
  initializers: Readonly<Record<string, TensorData>> = {},
) =>
  readModel(
    buildModel({
      ...{ opset, irVersion: 10, nodes, initializers },
      inputs: inputs.map((name) => ({ name, dtype: F, shape: [3] })),
      outputs: outputs.map((name) => ({ name, dtype: F })),
    }),
  );

/** Executes such a model. */
function run(model: ReturnType<typeof modelOf>, inputs: readonly (readonly number[])[], seed?: bigint): number[][] {
  const compiled = compile(model, { shapes: {}, ...(seed !== undefined && { seed }) });
  const tensors = executeReference(
    compiled,
    inputs.map((values) => numberTensor(F, values).bytes),
  );
  const { program } = compiled;
  return program.outputs.map((each) => [
    ...new Float32Array(Uint8Array.from(tensors[program.checkpoints[each]!.step]!).buffer),
  ]);
}

describe("Gradient", () => {
  it("of a value that is no scalar is that of its sum; terms of several readers are added", () => {
    const model = modelOf(
      [
        { op: "Mul", inputs: ["x", "x"], outputs: ["a"] },
        { op: "Add", inputs: ["a", "x"], outputs: ["y"] },
        gradient("y", ["x"], ["d"]),
      ],
      ["x"],
      ["d"],
    );
    expect(run(model, [[1, 2, -3]])).to.deep.equal([[3, 5, -5]]);
  });

  it("of a gradient is the second derivative", () => {
    const model = modelOf(
      [
        { op: "Mul", inputs: ["x", "x"], outputs: ["a"] },
        { op: "Mul", inputs: ["a", "x"], outputs: ["y"] },
        gradient("y", ["x"], ["d"]),
        gradient("d", ["x"], ["dd"]),
      ],
      ["x"],
      ["dd"],
    );
    expect(run(model, [[1, 2, -3]])).to.deep.equal([[6, 12, -18]]);
  });

  it("of an operator that is written in others differentiates twice", () => {
    const model = modelOf(
      [
        { op: "ReduceProd", inputs: ["x"], outputs: ["y"], attributes: { keepdims: 0 } },
        gradient("y", ["x"], ["d"]),
        gradient("d", ["x"], ["dd"]),
      ],
      ["x"],
      ["d", "dd"],
    );
    expect(run(model, [[1, 2, -3]])).to.deep.equal([
      [-6, -3, 2],
      [-1, -2, 3],
    ]);
  });

  it("is asked for twice where a rule needs a further output of a node", () => {
    const model = modelOf(
      [
        { op: "Mul", inputs: ["x", "x"], outputs: ["a"] },
        { op: "TopK", inputs: ["a", "one"], outputs: ["y", ""] },
        gradient("y", ["x"], ["d"]),
        gradient("d", ["x"], ["dd"]),
      ],
      ["x"],
      ["d", "dd"],
      21,
      { one: int64Tensor([1]) },
    );
    expect(run(model, [[1, 2, -3]])).to.deep.equal([
      [0, 0, -6],
      [0, 0, 2],
    ]);
  });

  it("refuses the gradient of an output that a rule does not give", () => {
    const nodes: NodeSpec[] = [
      { op: "Reshape", inputs: ["x", "shape"], outputs: ["q"] },
      { op: "Attention", name: "culprit", inputs: ["q", "q", "q"], outputs: ["", "", "", "y"] },
      gradient("y", ["x"], ["d"]),
    ];
    const model = modelOf(nodes, ["x"], ["d"], 23, { shape: int64Tensor([1, 1, 3, 1]) });
    expect(() => run(model, [[1, 2, 3]])).to.throw(UnsupportedOperatorError, /Attention.*culprit.*its output 3/);
  });

  it("by a value within the graph takes it as given; one of zs is no path", () => {
    const nodes = [
      { op: "Mul", inputs: ["x", "x"], outputs: ["a"] },
      { op: "Mul", inputs: ["a", "x"], outputs: ["y"] },
    ];
    const model = modelOf([...nodes, gradient("y", ["a"], ["d"], { inputs: ["a", "x"], zs: ["x"] })], ["x"], ["d"]);
    expect(run(model, [[1, 2, -3]])).to.deep.equal([[1, 2, -3]]);
  });

  it("at other values than those of the graph evaluates it there", () => {
    const nodes = [
      { op: "Mul", inputs: ["x", "z"], outputs: ["a"] },
      { op: "Mul", inputs: ["a", "x"], outputs: ["y"] },
      gradient("y", ["x"], ["d"], { inputs: ["v", "w"], zs: ["z"] }),
    ];
    const model = modelOf(nodes, ["x", "z", "v", "w"], ["y", "d"]);
    const results = run(model, [
      [1, 1, 1],
      [1, 2, 3],
      [4, 5, 6],
      [0.5, 1, 2],
    ]);
    expect(results).to.deep.equal([
      [1, 2, 3],
      [4, 10, 24],
    ]);
  });

  it("passes casts between floats, and stops at whole numbers", () => {
    const model = modelOf(
      [
        { op: "Cast", inputs: ["x"], outputs: ["h"], attributes: { to: DType.float64 } },
        { op: "Mul", inputs: ["h", "h"], outputs: ["hh"] },
        { op: "Cast", inputs: ["hh"], outputs: ["f"], attributes: { to: F } },
        { op: "Cast", inputs: ["x"], outputs: ["i"], attributes: { to: DType.int32 } },
        { op: "Cast", inputs: ["i"], outputs: ["whole"], attributes: { to: F } },
        { op: "Add", inputs: ["f", "whole"], outputs: ["y"] },
        gradient("y", ["x"], ["d"]),
      ],
      ["x"],
      ["d"],
    );
    expect(run(model, [[1, 2, -3]])).to.deep.equal([[2, 4, -6]]);
  });

  it("of Dropout in training has its mask", () => {
    const model = readModel(
      buildModel({
        ...{ opset: 21, irVersion: 10 },
        inputs: [{ name: "x", dtype: F, shape: [64] }],
        outputs: [
          { name: "y", dtype: F },
          { name: "d", dtype: F },
        ],
        nodes: [{ op: "Dropout", inputs: ["x", "ratio", "training"], outputs: ["y"] }, gradient("y", ["x"], ["d"])],
        initializers: {
          ratio: numberTensor(F, [0.5], []),
          training: numberTensor(DType.bool, [1], []),
        },
      }),
    );
    const [y, d] = run(model, [Array.from({ length: 64 }, () => 1)], 7n);
    expect(d).to.deep.equal(y);
    expect(new Set(d)).to.deep.equal(new Set([0, 2]));
  });

  for (const [op, why] of [
    ["Round", "not differentiable.*leave it out"],
    ["Sign", "not differentiable.*leave it out"],
    ["Hardmax", "not differentiable.*leave it out"],
  ] as const)
    it(`refuses ${op} by name`, () => {
      const model = modelOf(
        [{ op, name: "culprit", inputs: ["x"], outputs: ["y"] }, gradient("y", ["x"], ["d"])],
        ["x"],
        ["d"],
      );
      expect(() => run(model, [[1, 2, 3]])).to.throw(UnsupportedOperatorError, new RegExp(`${op}.*culprit.*${why}`));
      expect(survey(model, { shapes: {} }).refusals.map(({ node }) => node)).to.include("culprit");
    });

  it("refuses by names: no path, values that are unknown", () => {
    const apart = [{ op: "Neg", inputs: ["z"], outputs: ["y"] }, gradient("y", ["x"], ["d"])];
    expect(() =>
      run(modelOf(apart, ["x", "z"], ["d"]), [
        [1, 2, 3],
        [1, 2, 3],
      ]),
    ).to.throw(/"y" does not depend on x/);
    const unknown = [{ op: "Neg", inputs: ["x"], outputs: ["y"] }, gradient("v", ["x"], ["d"])];
    expect(() => run(modelOf(unknown, ["x"], ["d"]), [[1, 2, 3]])).to.throw(/nothing before it produces "v"/);
  });

  it("passes the ONNX tests that exist", async function () {
    if (!existsSync(CASES)) {
      console.log("      skipped: the Debian package libonnx-testdata is not installed");
      return this.skip();
    }
    for (const name of ["test_gradient_of_add", "test_gradient_of_add_and_mul"])
      expect(await runCase(`${CASES}/${name}`), name).to.include({ kind: "passed" });
  });

  it("leaves a model without it as it is", () => {
    const nodes = [{ op: "Neg", inputs: ["x"], outputs: ["y"] }];
    const { programRoot } = compile(modelOf(nodes, ["x"], ["y"]), { shapes: {} });
    const withGradient = [...nodes, gradient("y", ["x"], ["d"])];
    expect(compile(modelOf(withGradient, ["x"], ["y"]), { shapes: {} }).programRoot).to.equal(programRoot);
  });
});
