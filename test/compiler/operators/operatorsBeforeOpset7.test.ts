import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { NodeInputError, UnsupportedOperatorError } from "../../../src/compiler/errors.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { floatTensor } from "../../../src/model/onnx/tensorData.ts";
import type { TensorData } from "../../../src/model/onnx/model.ts";
import { buildModel, type AttributeValue } from "../../../testkit/onnx/onnxBuilder.ts";

const count = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

function run(op: string, opset: number, inputs: TensorData[], attributes: Record<string, AttributeValue>): number[] {
  const names = inputs.map((_, k) => `x${k}`);
  const bytes = buildModel({
    opset,
    inputs: inputs.map(({ dtype, shape }, k) => ({ name: names[k]!, dtype, shape })),
    outputs: [{ name: "y", dtype: DType.float32 }],
    nodes: [{ op, inputs: names, outputs: ["y"], attributes }],
  });
  const model = compile(readModel(bytes), { shapes: {} });
  const tensors = executeReference(
    model,
    inputs.map((input) => input.bytes),
  );
  return [...new Float32Array(tensors.at(-1)!.slice().buffer)];
}

describe("operators before opset 7", () => {
  const x = floatTensor(count(12), [2, 3, 2]);

  it("broadcastWithAxis_alignsTheSecondOperandThere", () => {
    const y = floatTensor([100, 200, 300], [3]);
    expect(run("Add", 6, [x, y], { broadcast: 1, axis: 1 })).to.deep.equal(
      count(12).map((i) => i + 100 * ((Math.floor(i / 2) % 3) + 1)),
    );
  });

  it("broadcastWithoutAxis_alignsASuffix", () => {
    expect(run("Sub", 6, [x, floatTensor([1, 2], [2])], { broadcast: 1 })).to.deep.equal(
      count(12).map((i) => i - (i % 2) - 1),
    );
  });

  it("broadcastOfOneElement_isAScalarWhateverItsAxis", () => {
    expect(run("Mul", 6, [x, floatTensor([3], [1])], { broadcast: 1, axis: 0 })).to.deep.equal(
      count(12).map((i) => 3 * i),
    );
  });

  it("differentShapesWithoutBroadcast_areRefused", () => {
    expect(() => run("Add", 6, [x, floatTensor([1, 2], [2])], {})).to.throw(NodeInputError, "broadcast is 0");
  });

  it("preluSlope_isOnePerChannel", () => {
    const negative = floatTensor(
      count(12).map((i) => -i - 1),
      [2, 3, 2],
    );
    expect(run("PRelu", 6, [negative, floatTensor([1, 2, 3], [3])], {})).to.deep.equal(
      count(12).map((i) => (-i - 1) * ((Math.floor(i / 2) % 3) + 1)),
    );
  });

  it("consumedInputs_isIgnoredBefore6AndUnknownFrom6", () => {
    expect(run("Relu", 5, [floatTensor([-1, 2])], { consumed_inputs: [0] })).to.deep.equal([0, 2]);
    expect(() => run("Relu", 6, [floatTensor([-1, 2])], { consumed_inputs: [0] })).to.throw(
      UnsupportedOperatorError,
      "consumed_inputs",
    );
  });

  it("dropoutInTraining_isRefused", () => {
    expect(() => run("Dropout", 6, [floatTensor([1])], {})).to.throw(UnsupportedOperatorError, "is_test");
    expect(run("Dropout", 6, [floatTensor([1])], { is_test: 1 })).to.deep.equal([1]);
  });
});
