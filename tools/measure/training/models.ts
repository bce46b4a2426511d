/** Small models that the examples of training begin with: seeded weights, float32. */
import { DType } from "../../../src/numerics/dtype.ts";
import { elementCount } from "../../../src/onnx/model.ts";
import { floatTensor, int64Tensor } from "../../../src/onnx/tensorData.ts";
import { GraphBuilder } from "../../../testkit/onnx/graphBuilder.ts";
import { buildModel, type NodeSpec } from "../../../testkit/onnx/onnxBuilder.ts";
import { Prng } from "../../../testkit/random/prng.ts";

/** Nodes and seeded weights. */
class Builder extends GraphBuilder {
  readonly #prng = new Prng(7);

  /** About normally distributed, so that `fan` of them sum to a variance of `gain`. */
  weights(shape: readonly number[], fan: number, gain = 2): string {
    const next = (): number => (this.#prng.uint32() + this.#prng.uint32() + this.#prng.uint32()) / 2 ** 31 - 3;
    const deviation = Math.sqrt(gain / fan);
    return this.constant(
      floatTensor(
        Array.from({ length: elementCount(shape) }, () => next() * deviation),
        shape,
      ),
    );
  }

  zeros = (shape: readonly number[]): string =>
    this.constant(floatTensor(new Array<number>(elementCount(shape)).fill(0), shape));

  conv(x: string, inputs: number, outputs: number, stride = 1): string {
    const attributes = { pads: [1, 1, 1, 1], strides: [stride, stride] };
    return this.node("Conv", [x, this.weights([outputs, inputs, 3, 3], 9 * inputs), this.zeros([outputs])], attributes);
  }

  dense(x: string, inputs: number, outputs: number, gain = 2): string {
    return this.node("Gemm", [x, this.weights([inputs, outputs], inputs, gain), this.zeros([outputs])]);
  }

  /** The bytes of the model; the last node gives `output`. */
  build(inputs: { name: string; dtype: DType; shape: readonly number[] }[], output: string): Uint8Array {
    const last = this.nodes.pop() as NodeSpec;
    return buildModel({
      ...{ opset: 18, inputs, initializers: this.initializers },
      nodes: [...this.nodes, { ...last, outputs: [output] }],
      outputs: [{ name: output, dtype: DType.float32 }],
    });
  }
}

/** A convolutional classifier of digits: x [batch, 1, 28, 28] to scores [batch, 10]. */
export function classifier(batch: number): Uint8Array {
  const b = new Builder();
  const pooled = (x: string): string =>
    b.node("MaxPool", [b.node("Relu", [x])], { kernel_shape: [2, 2], strides: [2, 2] });
  const features = pooled(b.conv(pooled(b.conv("x", 1, 8)), 8, 16));
  b.dense(b.node("Flatten", [features]), 16 * 49, 10, 1);
  return b.build([{ name: "x", dtype: DType.float32, shape: [batch, 1, 28, 28] }], "scores");
}

/**
 * A denoiser of digits: a noisy picture x [batch, 1, 28, 28] and its share of noise t [batch, 1] to the noise in it. A
 * U of three sizes with the share of noise added to its features.
 */
export function denoiser(batch: number): Uint8Array {
  const b = new Builder();
  const relu = (x: string): string => b.node("Relu", [x]);
  const timed = (x: string, channels: number): string => {
    const hidden = relu(b.dense("t", 1, 16));
    const shape = b.constant(int64Tensor([batch, channels, 1, 1]));
    return b.node("Add", [x, b.node("Reshape", [b.dense(hidden, 16, channels), shape])]);
  };
  const up = (x: string, inputs: number, outputs: number): string => {
    const attributes = { kernel_shape: [2, 2], strides: [2, 2] };
    return b.node("ConvTranspose", [x, b.weights([inputs, outputs, 2, 2], inputs), b.zeros([outputs])], attributes);
  };
  const joined = (x: string, y: string): string => b.node("Concat", [x, y], { axis: 1 });
  const a = relu(timed(b.conv("x", 1, 16), 16));
  const half = relu(timed(b.conv(a, 16, 32, 2), 32));
  const quarter = relu(timed(b.conv(half, 32, 64, 2), 64));
  const middle = relu(b.conv(quarter, 64, 64));
  const back = relu(timed(b.conv(joined(up(middle, 64, 32), half), 64, 32), 32));
  const all = relu(b.conv(joined(up(back, 32, 16), a), 32, 16));
  b.conv(all, 16, 1);
  return b.build(
    [
      { name: "x", dtype: DType.float32, shape: [batch, 1, 28, 28] },
      { name: "t", dtype: DType.float32, shape: [batch, 1] },
    ],
    "noise",
  );
}
