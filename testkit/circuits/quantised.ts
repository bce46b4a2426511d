import { floatTensor, numberTensor } from "../../src/model/onnx/tensorData.ts";
import type { TensorData } from "../../src/model/onnx/model.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { buildModel, type NodeSpec } from "../onnx/onnxBuilder.ts";
import { Prng } from "../random/prng.ts";

/** A convolution: channels, kernel, stride. */
type Layer = readonly [channels: number, kernel: number, stride: number];

/**
 * A quantised network's bytes: convolutions of uint8 by int8, each with own scales and biases, then a product
 * for the classes. All values are seeded.
 * @param size The picture's height and width; pictures have a channel of uint8.
 */
export function quantisedBytes(size: number, layers: readonly Layer[], classes: number, seed = 1): Uint8Array {
  const prng = new Prng(seed);
  const initializers: Record<string, TensorData> = { zero: numberTensor(DType.uint8, [0], []) };
  const nodes: NodeSpec[] = [];
  const scale = (name: string, value: number): string => {
    initializers[name] = floatTensor([value], []);
    return name;
  };
  const weights = (name: string, shape: readonly number[], dtype: DType, most: number): string => {
    const count = shape.reduce((product, dim) => product * dim, 1);
    const values = Array.from({ length: count }, () => prng.below(2 * most + 1) - most);
    initializers[name] = numberTensor(dtype, values, shape);
    return name;
  };
  initializers["none"] = numberTensor(DType.int8, [0], []);
  scale("s0", 1 / 255);
  let [channels, side] = [1, size];
  layers.forEach(([to, kernel, stride], k) => {
    const terms = channels * kernel * kernel;
    // Sums of random terms then fill the range of a byte.
    scale(`s${k + 1}`, (0.011 * terms ** 0.5) / (1 + prng.below(100) / 500));
    nodes.push({
      op: "QLinearConv",
      inputs: [
        ...[`h${k}`, `s${k}`, "zero"],
        ...[weights(`w${k}`, [to, channels, kernel, kernel], DType.int8, 90), scale(`v${k}`, 0.011), "none"],
        ...[`s${k + 1}`, "zero", weights(`b${k}`, [to], DType.int32, 4_000)],
      ],
      outputs: [`h${k + 1}`],
      attributes: { strides: [stride, stride], pads: [1, 1, 1, 1].map((pad) => pad * (kernel >> 1)) },
    });
    channels = to;
    side = Math.floor((side + 2 * (kernel >> 1) - kernel) / stride) + 1;
  });
  const last = layers.length;
  initializers["rows"] = numberTensor(DType.int64, [1, channels * side * side], [2]);
  nodes.push({ op: "Reshape", inputs: [`h${last}`, "rows"], outputs: ["flat"] });
  nodes.push({
    op: "QLinearMatMul",
    inputs: [
      ...["flat", `s${last}`, "zero"],
      ...[weights("w", [channels * side * side, classes], DType.int8, 90), scale("v", 0.011), "none"],
      ...[scale("s", 0.4), "middle"],
    ],
    outputs: ["y"],
  });
  initializers["middle"] = numberTensor(DType.uint8, [128], []);
  return buildModel({
    inputs: [{ name: "h0", dtype: DType.uint8, shape: [1, 1, size, size] }],
    outputs: [{ name: "y", dtype: DType.uint8, shape: [1, classes] }],
    initializers,
    nodes,
  });
}

/** Random bytes, for a picture. */
export function pictureBytes(count: number, seed: number): Uint8Array {
  const prng = new Prng(seed);
  return Uint8Array.from({ length: count }, () => prng.below(256));
}
