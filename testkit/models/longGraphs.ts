/** Models of many small nodes. */
import { DType } from "../../src/numerics/dtype.ts";
import { floatTensor, int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { buildModel, type NodeSpec } from "../onnx/onnxBuilder.ts";

const SHAPE = [4, 4];
const io = (name: string) => ({ name, dtype: DType.float32, shape: SHAPE });
const weights = floatTensor(
  Array.from({ length: 16 }, (_, k) => k / 16 - 0.4),
  SHAPE,
);

/**
 * Returns a model with `count` nodes in a row. @param node The operator of node k, and the input that node k reads in
 * addition to the node before.
 */
function chain(count: number, node: (k: number) => Pick<NodeSpec, "op" | "attributes"> & { beside?: string }) {
  const name = (k: number): string => (k < 0 ? "x" : k === count - 1 ? "y" : `t${k}`);
  const nodes = Array.from({ length: count }, (_, k): NodeSpec => {
    const { beside, ...spec } = node(k);
    const before = beside === "before last" ? [name(Math.max(-1, k - 2))] : beside === undefined ? [] : [beside];
    return { ...spec, inputs: [name(k - 1), ...before], outputs: [name(k)] };
  });
  return buildModel({ inputs: [io("x")], outputs: [io("y")], nodes, initializers: { w: weights } });
}

/** Returns a loop with `count` iterations. The body computes a product and a tanh. */
function loop(count: number) {
  const nodes = [
    { op: "Identity", inputs: ["go"], outputs: ["goOn"] },
    { op: "MatMul", inputs: ["h", "w"], outputs: ["product"] },
    { op: "Tanh", inputs: ["product"], outputs: ["next"] },
  ];
  const flag = (name: string) => ({ name, dtype: DType.bool, shape: [] });
  const body = {
    inputs: [{ name: "i", dtype: DType.int64, shape: [] }, flag("go"), io("h")],
    outputs: [flag("goOn"), io("next")],
    nodes,
  };
  return buildModel({
    inputs: [io("x")],
    outputs: [io("y")],
    nodes: [{ op: "Loop", inputs: ["n", "yes", "x"], outputs: ["y"], attributes: { body: { graph: body } } }],
    initializers: {
      n: int64Tensor([count], []),
      yes: { dtype: DType.bool, shape: [], bytes: Uint8Array.of(1) },
      w: weights,
    },
  });
}

/** Models with any number of nodes or iterations. The tensors are small: compile time depends on the nodes alone. */
export const LONG_GRAPHS: Record<string, (count: number) => Uint8Array> = {
  elementwise: (count) => chain(count, (k) => ({ op: ["Add", "Mul", "Sub"][k % 3]!, beside: "w" })),
  withTwoReaders: (count) => chain(count, (k) => ({ op: k % 2 === 0 ? "Add" : "Mul", beside: "before last" })),
  products: (count) => chain(count, () => ({ op: "MatMul", beside: "w" })),
  softmaxes: (count) => chain(count, () => ({ op: "Softmax" })),
  transpositions: (count) => chain(count, () => ({ op: "Transpose", attributes: { perm: [1, 0] } })),
  unrolledLoop: loop,
};
