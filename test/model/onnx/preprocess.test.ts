import { expect } from "chai";
import { withNoise } from "../../../src/compiler/wraps/withNoise.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import type { Body, Model } from "../../../src/model/onnx/model.ts";
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

  it("bodiesThatReadTheInput_readWhatItBecame_andOwnNamesStay", () => {
    const branch = (...inputs: string[]) => ({
      graph: {
        inputs: [],
        outputs: [{ name: "out", dtype: DType.float32 }],
        nodes: inputs.map((name, k) => ({
          op: "Relu",
          inputs: [name],
          outputs: [k === inputs.length - 1 ? "out" : "x"],
        })),
      },
    });
    const attributes = { then_branch: branch("x"), else_branch: branch("z", "x") };
    const given = readModel(
      buildModel({
        inputs: [
          { name: "x", dtype: DType.float32, shape: [1, 3, 2, 2] },
          { name: "c", dtype: DType.bool, shape: [] },
          { name: "z", dtype: DType.float32, shape: [1, 3, 2, 2] },
        ],
        outputs: [{ name: "y", dtype: DType.float32 }],
        nodes: [{ op: "If", inputs: ["c"], outputs: ["y"], attributes }],
      }),
    );
    const readIn = (model: Model, name: string): string[][] => {
      const body = model.graph.nodes.at(-1)!.attributes.get(name) as { value: Body };
      return body.value.nodes.map(({ inputs }) => [...inputs]);
    };
    const pictures = withImagePreprocessing(given, PADDLE_OCR_LINE);
    expect(readIn(pictures, "then_branch")).to.deep.equal([["x.normalised"]]);
    expect(readIn(pictures, "else_branch")).to.deep.equal([["z"], ["x"]]);
    const noisy = withNoise(given, { x: 0.5 }, undefined).model;
    expect(readIn(noisy, "then_branch")[0]![0]).to.match(/^noise\./);
    expect(readIn(noisy, "else_branch")).to.deep.equal([["z"], ["x"]]);
  });

  it("otherInput_isRefused", () => {
    expect(() => withImagePreprocessing(model, { ...PADDLE_OCR_LINE, input: "z" })).to.throw(PreprocessingError, '"z"');
    expect(() => withImagePreprocessing(model, { ...PADDLE_OCR_LINE, std: [1, 2] })).to.throw(PreprocessingError);
  });
});
