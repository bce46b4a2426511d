import { expect } from "chai";
import { DType } from "../../../src/numerics/dtype.ts";
import { PADDLE_OCR_LINE, PreprocessingError, withImagePreprocessing } from "../../../src/model/onnx/preprocess.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { buildModel } from "../../../testkit/onnx/onnxBuilder.ts";

const model = readModel(
  buildModel({
    inputs: [{ name: "x", dtype: DType.float32, shape: ["n", 3, "h", "w"] }],
    outputs: [{ name: "y", dtype: DType.float32 }],
    nodes: [{ op: "Relu", inputs: ["x"], outputs: ["y"] }],
  }),
);

describe("withImagePreprocessing", () => {
  it("nhwc_beginsWithTransposeCastAndNormalisation", () => {
    const { graph } = withImagePreprocessing(model, PADDLE_OCR_LINE);
    expect(graph.inputs).to.deep.equal([{ name: "x", dtype: DType.uint8, shape: ["n", "h", "w", 3] }]);
    expect(graph.nodes.map((n) => n.operator)).to.deep.equal(["Transpose", "Cast", "Mul", "Sub", "Div", "Relu"]);
    expect(graph.nodes.at(-1)!.inputs).to.deep.equal(["x.normalised"]);
    expect(graph.initializers.get("x.mean")!.shape).to.deep.equal([]);
  });

  it("nchwReversed_gathersTheChannelsInReverse", () => {
    const options = { ...PADDLE_OCR_LINE, layout: "NCHW", reverseChannels: true, mean: [1, 2, 3] } as const;
    const { graph } = withImagePreprocessing(model, options);
    expect(graph.nodes.map((n) => n.operator)).to.deep.equal(["Gather", "Cast", "Mul", "Sub", "Div", "Relu"]);
    expect(graph.initializers.get("x.mean")!.shape).to.deep.equal([3, 1, 1]);
  });

  it("otherInput_isRefused", () => {
    expect(() => withImagePreprocessing(model, { ...PADDLE_OCR_LINE, input: "z" })).to.throw(PreprocessingError, '"z"');
    expect(() => withImagePreprocessing(model, { ...PADDLE_OCR_LINE, std: [1, 2] })).to.throw(PreprocessingError);
  });
});
