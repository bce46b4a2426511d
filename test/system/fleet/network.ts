import { DType } from "../../../src/numerics/dtype.ts";
import { floatTensor } from "../../../src/model/onnx/tensorData.ts";
import { seededWeights } from "../../../testkit/models/mlp.ts";
import { buildModel } from "../../../testkit/onnx/onnxBuilder.ts";
import { Prng } from "../../../testkit/random/prng.ts";

const [ROWS, WIDTH] = [32, 256];

/** A network whose execution takes about a millisecond for each layer. */
export function modelBytes(layers: number): Uint8Array {
  const prng = new Prng(7);
  const each = Array.from({ length: layers }, (_, k) => k);
  return buildModel({
    inputs: [{ name: "x", dtype: DType.float32, shape: [ROWS, WIDTH] }],
    outputs: [{ name: `y${layers - 1}`, dtype: DType.float32, shape: [ROWS, WIDTH] }],
    initializers: Object.fromEntries(each.map((k) => [`w${k}`, seededWeights(prng, WIDTH, WIDTH)])),
    nodes: each.flatMap((k) => [
      { op: "MatMul", inputs: [k === 0 ? "x" : `y${k - 1}`, `w${k}`], outputs: [`m${k}`] },
      { op: "Tanh", inputs: [`m${k}`], outputs: [`y${k}`] },
    ]),
  });
}

/** An input of it. */
export function inputOf(k: number): Uint8Array {
  const prng = new Prng(1_000 + k);
  return floatTensor(Array.from({ length: ROWS * WIDTH }, () => prng.below(2_001) / 1_000 - 1)).bytes;
}
