import { DType } from "../../src/numerics/dtype.ts";
import { floatTensor } from "../../src/model/onnx/tensorData.ts";
import { buildModel } from "../onnx/onnxBuilder.ts";

/** A row for each feature of a flower: centimetres of sepal length and width, petal length and width. */
const WEIGHTS = [
  [-0.424, 0.534, -0.111],
  [0.967, -0.322, -0.646],
  [-2.517, -0.206, 2.723],
  [-1.079, -0.944, 2.024],
];
/** The intercepts for setosa, versicolor, virginica. */
const INTERCEPTS = [9.85, 2.24, -12.09];

/**
 * The model of `examples/iris`: a multinomial logistic regression on Fisher's iris data, rounded to three decimals. The
 * same model is `examples/model.onnx`, with the short names of the pages.
 */
export const irisBytes = (input = "features", output = "probabilities"): Uint8Array =>
  buildModel({
    inputs: [{ name: input, dtype: DType.float32, shape: [1, 4] }],
    outputs: [{ name: output, dtype: DType.float32, shape: [1, 3] }],
    initializers: { weights: floatTensor(WEIGHTS.flat(), [4, 3]), intercepts: floatTensor(INTERCEPTS, [3]) },
    nodes: [
      { op: "Gemm", inputs: [input, "weights", "intercepts"], outputs: ["scores"] },
      { op: "Softmax", inputs: ["scores"], outputs: [output], attributes: { axis: -1 } },
    ],
  });
