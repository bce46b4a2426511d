/** Products of packed weights, and what these are. */
import { DType } from "../../src/numerics/dtype.ts";
import type { TensorData } from "../../src/model/onnx/model.ts";
import { int64Tensor } from "../../src/model/onnx/tensorData.ts";
import type { Experiment } from "../onnx/agreement.ts";
import type { RandomTensors } from "../random/tensors.ts";

/** A product, and the product's weights [N, K], row by row. */
export type Weighted = { experiment: Experiment; weights: readonly number[] };
/** The attributes of MatMulNBits; rows of the left factor; zero points: "none", "packed" or "float". */
export type Parts = {
  bits: number;
  block: number;
  K: number;
  N: number;
  rows: number;
  zeros: string;
  groups?: boolean;
};

const MICROSOFT = "com.microsoft";
const numberAt = (bytes: Uint8Array, start: number, bits: number, at: number): number =>
  (bytes[start + Math.floor((at * bits) / 8)]! >> ((at * bits) % 8)) & (2 ** bits - 1);

/** Returns a random MatMulNBits, and its weights. This function decodes the weights from the bytes. */
export function nBits(r: RandomTensors, { bits, block, K, N, rows, zeros, groups }: Parts): Weighted {
  const blocks = Math.ceil(K / block);
  const blob = (block * bits) / 8;
  const rowBytes = Math.ceil((blocks * bits) / 8);
  const b = r.integer(DType.uint8, [N, blocks, blob], 0, 255);
  const s = r.float([N * blocks], 1 / 16, 1);
  const z =
    zeros === "packed"
      ? r.integer(DType.uint8, [N * rowBytes], 0, 255)
      : zeros === "float"
        ? r.float([N * blocks], 0, 15)
        : undefined;
  const g = groups ? Array.from({ length: K }, () => r.int(0, blocks - 1)) : undefined;
  const floats = (tensor: TensorData): Float32Array => new Float32Array(Uint8Array.from(tensor.bytes).buffer);
  const weights = Array.from({ length: N * K }, (_, i) => {
    const [n, k] = [Math.floor(i / K), i % K];
    const own = g?.[k] ?? Math.floor(k / block);
    const zero =
      z === undefined
        ? 2 ** (bits - 1)
        : z.dtype === DType.uint8
          ? numberAt(z.bytes, n * rowBytes, bits, own)
          : floats(z)[n * blocks + own]!;
    return Math.fround(
      Math.fround(numberAt(b.bytes, n * blocks * blob, bits, k) - zero) * floats(s)[n * blocks + own]!,
    );
  });
  const initializers: Record<string, TensorData> = { b, s };
  if (z !== undefined) initializers["z"] = z;
  // onnxruntime takes each number's group as int32. The compiler reads any integers.
  if (g !== undefined) initializers["g"] = int64Tensor(g);
  const inputs = ["a", "b", "s", z ? "z" : "", g ? "g" : ""];
  return {
    experiment: {
      operands: { a: r.float([rows, K]) },
      initializers,
      nodes: [
        { op: "MatMulNBits", domain: MICROSOFT, inputs, outputs: ["y"], attributes: { K, N, bits, block_size: block } },
      ],
      outputs: { y: DType.float32 },
    },
    weights,
  };
}
