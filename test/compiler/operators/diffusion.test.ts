import { expect } from "chai";
import { outputTensors } from "../../../src/examine/compare/compare.ts";
import { firstDifference } from "../../../src/examine/conform/tolerance.ts";
import { compile } from "../../../src/compiler/compile.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { floatTensor, int64Tensor } from "../../../src/model/onnx/tensorData.ts";
import { modelOf, type Experiment } from "../../../testkit/onnx/agreement.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import type { NodeSpec } from "../../../testkit/onnx/onnxBuilder.ts";
import { runOnnxruntime } from "../../../testkit/onnx/onnxruntime.ts";
import { F } from "../../../testkit/operators/makers.ts";
import { RandomTensors } from "../../../testkit/random/tensors.ts";

const r = new RandomTensors(new Prng(17));
const domain = "com.microsoft";

/** One fused node, exactly, against the operators of ai.onnx that it stands for, in onnxruntime. */
async function expectSame(
  operands: Experiment["operands"],
  fused: NodeSpec,
  plain: readonly NodeSpec[],
): Promise<void> {
  const outputs = { y: F };
  const model = compile(readModel(modelOf({ operands, nodes: [fused], outputs })), { shapes: {} });
  const inputs = model.inputs.map(({ name }) => operands[name]!.bytes);
  const [got] = outputTensors(model, executeReference(model, inputs));
  const initializers = {
    half: floatTensor([0.5], []),
    one: floatTensor([1], []),
    root: floatTensor([Math.SQRT1_2], []),
    grouped: int64Tensor([2, 2, -1]),
    image: int64Tensor([2, 4, 3, 5]),
    ones: floatTensor([1, 1]),
    zeros: floatTensor([0, 0]),
    places: int64Tensor([1, 2]),
  };
  const used = new Set(plain.flatMap((node) => node.inputs));
  const known = Object.fromEntries(Object.entries(initializers).filter(([name]) => used.has(name)));
  const composed = modelOf({ operands, initializers: known, nodes: plain, outputs });
  const wanted = (await runOnnxruntime(composed, new Map(Object.entries(operands)))).get("y")!;
  expect(got!.shape).to.deep.equal([...wanted.shape]);
  expect(firstDifference(got!, wanted, { rtol: 1e-3, atol: 1e-5 })).to.equal(undefined);
}

const turn = (from: string, to: string, perm: readonly number[]): NodeSpec => ({
  op: "Transpose",
  inputs: [from],
  outputs: [to],
  attributes: { perm },
});

/** GroupNormalization of [2, 4, 3, 5] in two groups, then x * sigmoid(x). */
const groupNorm = (x: string): NodeSpec[] => [
  { op: "Reshape", inputs: [x, "grouped"], outputs: ["flat"] },
  {
    op: "InstanceNormalization",
    inputs: ["flat", "ones", "zeros"],
    outputs: ["normal"],
    attributes: { epsilon: { float: 0.01 } },
  },
  { op: "Reshape", inputs: ["normal", "image"], outputs: ["back"] },
  turn("back", "last", [0, 2, 3, 1]),
  { op: "Mul", inputs: ["last", "g"], outputs: ["scaled"] },
  { op: "Add", inputs: ["scaled", "b"], outputs: ["z"] },
  { op: "Sigmoid", inputs: ["z"], outputs: ["s"] },
  { op: "Mul", inputs: ["z", "s"], outputs: ["y"] },
];

describe("fused operators of image generators, which onnxruntime has on other devices only", () => {
  const image = r.float([2, 3, 5, 4]);
  const [g, b] = [r.float([4]), r.float([4])];
  const attributes = { groups: 2, activation: 1, channels_last: 1, epsilon: { float: 0.01 } };

  it("biasAdd_isTheSums", () =>
    expectSame(
      { x: r.float([2, 3, 4]), b, k: r.float([2, 3, 4]) },
      { op: "BiasAdd", domain, inputs: ["x", "b", "k"], outputs: ["y"] },
      [
        { op: "Add", inputs: ["x", "b"], outputs: ["s"] },
        { op: "Add", inputs: ["s", "k"], outputs: ["y"] },
      ],
    ));

  it("biasSplitGelu_isHalfTimesGeluOfTheOther", () =>
    expectSame({ x: r.float([2, 3, 4]), b }, { op: "BiasSplitGelu", domain, inputs: ["x", "b"], outputs: ["y"] }, [
      { op: "Add", inputs: ["x", "b"], outputs: ["s"] },
      { op: "Split", inputs: ["s"], outputs: ["left", "right"], attributes: { axis: -1 } },
      { op: "Mul", inputs: ["right", "root"], outputs: ["e"] },
      { op: "Erf", inputs: ["e"], outputs: ["f"] },
      { op: "Add", inputs: ["f", "one"], outputs: ["h"] },
      { op: "Mul", inputs: ["h", "half"], outputs: ["i"] },
      { op: "Mul", inputs: ["right", "i"], outputs: ["j"] },
      { op: "Mul", inputs: ["left", "j"], outputs: ["y"] },
    ]));

  it("groupNorm_isThatOfGroupsOfChannels", () =>
    expectSame({ x: image, g, b }, { op: "GroupNorm", domain, inputs: ["x", "g", "b"], outputs: ["y"], attributes }, [
      turn("x", "first", [0, 3, 1, 2]),
      ...groupNorm("first"),
    ]));

  it("skipGroupNorm_addsFirst", () =>
    expectSame(
      { x: image, g, b, k: r.float([2, 4]), bias: r.float([4]) },
      { op: "SkipGroupNorm", domain, inputs: ["x", "g", "b", "k", "bias"], outputs: ["y"], attributes },
      [
        { op: "Unsqueeze", inputs: ["k", "places"], outputs: ["wide"] },
        { op: "Add", inputs: ["x", "wide"], outputs: ["sum"] },
        { op: "Add", inputs: ["sum", "bias"], outputs: ["whole"] },
        turn("whole", "second", [0, 3, 1, 2]),
        ...groupNorm("second"),
      ],
    ));

  it("nhwcConv_isConvWithItsDimensionsMoved", () =>
    expectSame(
      { x: image, w: r.float([2, 3, 2, 4]), b: r.float([2]) },
      { op: "NhwcConv", domain, inputs: ["x", "w", "b"], outputs: ["y"], attributes: { pads: [1, 0, 0, 1] } },
      [
        turn("x", "xs", [0, 3, 1, 2]),
        turn("w", "ws", [0, 3, 1, 2]),
        { op: "Conv", inputs: ["xs", "ws", "b"], outputs: ["c"], attributes: { pads: [1, 0, 0, 1] } },
        turn("c", "y", [0, 2, 3, 1]),
      ],
    ));
});
