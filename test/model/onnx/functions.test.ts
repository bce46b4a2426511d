import { expect } from "chai";
import { AttributeProto_AttributeType as Type } from "onnx-buf";
import { DType } from "../../../src/numerics/dtype.ts";
import { ModelGraphError } from "../../../src/model/onnx/errors.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { floatTensor, int64Tensor } from "../../../src/model/onnx/tensorData.ts";
import { compile } from "../../../src/compiler/compile.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { outputTensors } from "../../../src/examine/compare/compare.ts";
import { expectAgreement, modelOf, type Experiment } from "../../../testkit/onnx/agreement.ts";
import { buildModel, type FunctionSpec, type NodeSpec } from "../../../testkit/onnx/onnxBuilder.ts";

const F = DType.float32;
const x = floatTensor([-2, -1, 0, 1, 2, 3], [2, 3]);

/** alpha * x where x < 0, through an attribute that has a default. */
const leaky: FunctionSpec = {
  name: "Leaky",
  domain: "local",
  inputs: ["a"],
  outputs: ["b"],
  defaults: { slope: { float: 0.25 } },
  nodes: [
    { op: "LeakyRelu", inputs: ["a"], outputs: ["b"], attributes: { alpha: { reference: "slope", type: Type.FLOAT } } },
  ],
};

/** Leaky twice, its own attribute handed on; names as in the graph that calls it. */
const twice: FunctionSpec = {
  name: "Twice",
  domain: "local",
  inputs: ["x", "shift"],
  outputs: ["y", "x0"],
  attributes: ["outer"],
  nodes: [
    {
      op: "Leaky",
      domain: "local",
      inputs: ["x"],
      outputs: ["t"],
      attributes: { slope: { reference: "outer", type: Type.FLOAT } },
    },
    { op: "Leaky", domain: "local", inputs: ["t"], outputs: ["x0"] },
    { op: "Add", inputs: ["x0", "shift"], outputs: ["y"] },
  ],
};

/** The sum over an axis, in the form of operator set 11 (axes an attribute), optionally clipped from below. */
const older: FunctionSpec = {
  name: "Older",
  domain: "local",
  opset: 11,
  inputs: ["v", "low"],
  outputs: ["s", "v2"],
  attributes: ["axes"],
  nodes: [
    { op: "Clip", inputs: ["v", "low"], outputs: ["c"] },
    {
      op: "ReduceSum",
      inputs: ["c"],
      outputs: ["s"],
      attributes: { axes: { reference: "axes", type: Type.INTS } },
    },
    { op: "Identity", inputs: ["v"], outputs: ["v2"] },
  ],
};

/** A function with a branch in it, which reads the function's inputs. */
const branching: FunctionSpec = {
  name: "Branching",
  domain: "local",
  inputs: ["a", "c"],
  outputs: ["r"],
  nodes: [
    { op: "Neg", inputs: ["a"], outputs: ["n"] },
    {
      op: "If",
      inputs: ["c"],
      outputs: ["r"],
      attributes: {
        then_branch: {
          graph: {
            inputs: [],
            outputs: [{ name: "p", dtype: F }],
            nodes: [
              { op: "Leaky", domain: "local", inputs: ["n"], outputs: ["q"] },
              { op: "Add", inputs: ["q", "a"], outputs: ["p"] },
            ],
          },
        },
        else_branch: {
          graph: {
            inputs: [],
            outputs: [{ name: "p", dtype: F }],
            nodes: [{ op: "Abs", inputs: ["n"], outputs: ["p"] }],
          },
        },
      },
    },
  ],
};

const experiment = (
  functions: readonly FunctionSpec[],
  nodes: readonly NodeSpec[],
  outputs: Experiment["outputs"],
) => ({ operands: { x, c: { dtype: DType.bool, shape: [], bytes: Uint8Array.of(1) } }, functions, nodes, outputs });

const leakyRelu = (alpha: number, names: readonly string[], k: number): NodeSpec => ({
  op: "LeakyRelu",
  inputs: [names[k]!],
  outputs: [names[k + 1]!],
  attributes: { alpha: { float: alpha } },
});

function outputsOf(made: Experiment): Record<string, string> {
  const model = compile(readModel(modelOf(made)), { shapes: {} });
  const inputs = model.inputs.map(({ name }) => made.operands[name]!.bytes);
  const outputs = outputTensors(model, executeReference(model, inputs));
  return Object.fromEntries(model.outputs.map(({ name }, k) => [name, Buffer.from(outputs[k]!.bytes).toString("hex")]));
}

/** Of what onnxruntime does not take: nodes of other operator sets, results read inside the function. */
const expectSameOutputs = (a: Experiment, b: Experiment): void => {
  expect(outputsOf(a)).to.deep.equal(outputsOf(b));
};

describe("functions of the model", () => {
  it("attributesAndDefaults_agree", () =>
    expectAgreement(
      experiment(
        [leaky],
        [
          { op: "Leaky", domain: "local", inputs: ["x"], outputs: ["y"] },
          { op: "Leaky", domain: "local", inputs: ["x"], outputs: ["z"], attributes: { slope: { float: 0.5 } } },
          { op: "Cast", inputs: ["c"], outputs: ["d"], attributes: { to: F } },
        ],
        { y: F, z: F, d: F },
      ),
      "default and given",
    ));

  it("nestedCalls_areTheNodesWithinThem", () =>
    expectSameOutputs(
      experiment(
        [twice, leaky],
        [
          {
            op: "Twice",
            domain: "local",
            inputs: ["x", "x"],
            outputs: ["t", "u"],
            attributes: { outer: { float: 0.5 } },
          },
          { op: "Twice", domain: "local", inputs: ["t", "u"], outputs: ["y"], attributes: { outer: { float: 2 } } },
        ],
        { y: F, u: F },
      ),
      experiment(
        [],
        [
          ...[0.5, 0.25].map((alpha, k) => leakyRelu(alpha, ["x", "a", "u"], k)),
          { op: "Add", inputs: ["u", "x"], outputs: ["t"] },
          ...[2, 0.25].map((alpha, k) => leakyRelu(alpha, ["t", "b", "v"], k)),
          { op: "Add", inputs: ["v", "u"], outputs: ["y"] },
        ],
        { y: F, u: F },
      ),
    ));

  it("ownOperatorSetAndAbsentInput_areTheFunctions", () =>
    expectSameOutputs(
      experiment(
        [older],
        [{ op: "Older", domain: "local", inputs: ["x"], outputs: ["y", "w"], attributes: { axes: [1] } }],
        { y: F, w: F },
      ),
      {
        ...experiment(
          [],
          [
            { op: "Identity", inputs: ["x"], outputs: ["w"] },
            { op: "ReduceSum", inputs: ["w"], outputs: ["y"], attributes: { axes: [1] } },
          ],
          { y: F, w: F },
        ),
        opset: 11,
      },
    ));

  it("bodiesInFunctionsAndCallsInBodies_agree", () =>
    expectAgreement(
      experiment(
        [branching, leaky],
        [
          { op: "Branching", domain: "local", inputs: ["x", "c"], outputs: ["r"] },
          { op: "Branching", domain: "local", inputs: ["r", "c"], outputs: ["y"] },
        ],
        { y: F, r: F },
      ),
      "branches",
    ));

  it("inputHandedOn_isItself", () => {
    const same: FunctionSpec = { name: "Same", domain: "local", inputs: ["a"], outputs: ["a"], nodes: [] };
    const bytes = buildModel({
      inputs: [{ name: "x", dtype: F, shape: [2] }],
      outputs: [{ name: "y", dtype: F }],
      functions: [same],
      nodes: [{ op: "Same", domain: "local", inputs: ["x"], outputs: ["y"] }],
    });
    expect(readModel(bytes).graph.nodes.map(({ operator }) => operator)).to.deep.equal(["Identity"]);
  });

  it("functionThatCallsItself_refused", () => {
    const loop: FunctionSpec = {
      name: "Round",
      domain: "local",
      inputs: ["a"],
      outputs: ["b"],
      nodes: [{ op: "Round", domain: "local", inputs: ["a"], outputs: ["b"] }],
    };
    const bytes = buildModel({
      inputs: [{ name: "x", dtype: F, shape: [2] }],
      outputs: [{ name: "y", dtype: F }],
      functions: [loop],
      nodes: [{ op: "Round", domain: "local", inputs: ["x"], outputs: ["y"] }],
    });
    expect(() => readModel(bytes)).to.throw(ModelGraphError, "calls itself");
  });

  it("callsThatMultiply_refused", () => {
    const level = (n: number): FunctionSpec => ({
      name: `F${n}`,
      domain: "local",
      inputs: ["a"],
      outputs: ["b"],
      nodes: Array.from({ length: 10 }, (_, k) => ({
        op: n === 0 ? "Neg" : `F${n - 1}`,
        domain: n === 0 ? "" : "local",
        inputs: [k === 0 ? "a" : `t${k}`],
        outputs: [k === 9 ? "b" : `t${k + 1}`],
      })),
    });
    const bytes = buildModel({
      inputs: [{ name: "x", dtype: F, shape: [2] }],
      outputs: [{ name: "y", dtype: F }],
      functions: Array.from({ length: 8 }, (_, n) => level(n)),
      nodes: [{ op: "F7", domain: "local", inputs: ["x"], outputs: ["y"] }],
      initializers: { unused: int64Tensor([1]) },
    });
    expect(() => readModel(bytes)).to.throw(ModelGraphError, "larger than");
  });
});
