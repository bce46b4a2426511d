/** Experiments of Einsum, TopK, ReverseSequence and the recurrent operators. */
import { DType } from "../../src/numerics/dtype.ts";
import type { TensorData } from "../../src/model/onnx/model.ts";
import { int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { single, type Experiment } from "../onnx/agreement.ts";
import type { AttributeValue } from "../onnx/onnxBuilder.ts";
import { F, type Make } from "./makers.ts";

const EQUATIONS: readonly (readonly [string, readonly (readonly number[])[]])[] = [
  ["ij->ji", [[2, 3]]],
  ["ij->i", [[2, 3]]],
  ["ii->i", [[3, 3]]],
  [
    "ij,jk->ik",
    [
      [2, 3],
      [3, 4],
    ],
  ],
  [
    "bij,bjk->bik",
    [
      [2, 2, 3],
      [2, 3, 2],
    ],
  ],
  ["i,j->ij", [[2], [3]]],
  [
    "...ij,...jk->...ik",
    [
      [1, 2, 3],
      [4, 3, 2],
    ],
  ],
  [
    "bhid,bhjd->bhij",
    [
      [1, 2, 3, 4],
      [1, 2, 2, 4],
    ],
  ],
  [
    "ij,jk",
    [
      [2, 3],
      [3, 4],
    ],
  ],
  [
    "ij,jk,kl->il",
    [
      [2, 3],
      [3, 4],
      [4, 2],
    ],
  ],
  ["i,i->", [[5], [5]]],
];

const einsum: Make = (r) => {
  const [equation, shapes] = r.pick(EQUATIONS);
  return single(
    "Einsum",
    shapes.map((shape) => r.float(shape)),
    [],
    { equation },
    F,
  );
};

const topK =
  (opset: number): Make =>
  (r): Experiment => {
    const rank = r.int(1, 3);
    const shape = r.shape(rank);
    const axis = r.int(0, rank - 1);
    const count = r.int(1, shape[axis]!);
    const attributes = {
      axis: axis - (opset > 10 ? rank : 0),
      ...(opset > 10 ? { largest: r.int(0, 1) } : { k: count }),
    };
    const x = r.int(0, 1) === 1 && opset > 10 ? r.integer(DType.int32, shape, -2, 2) : r.float(shape);
    const k: Record<string, TensorData> = opset > 10 ? { k: int64Tensor([count]) } : {};
    return {
      opset,
      operands: { x },
      initializers: k,
      nodes: [{ op: "TopK", inputs: ["x", ...Object.keys(k)], outputs: ["values", "indices"], attributes }],
      outputs: { values: x.dtype, indices: DType.int64 },
    };
  };

const reverseSequence: Make = (r) => {
  const [a, b] = [r.int(2, 4), r.int(2, 4)];
  const time = r.int(0, 1);
  const lengths = r.integer(DType.int64, [time === 0 ? b : a], 1, time === 0 ? a : b);
  const attributes = { time_axis: time, batch_axis: 1 - time };
  return single("ReverseSequence", [r.float([a, b, 2]), lengths], [], attributes, F);
};

/** A recurrent operator with random sizes, direction, initial states, lengths and biases. */
const recurrent =
  (op: "RNN" | "GRU" | "LSTM"): Make =>
  (r): Experiment => {
    const gates = { RNN: 1, GRU: 3, LSTM: 4 }[op];
    const [steps, batch, size, hidden] = [r.int(1, 4), r.int(1, 3), r.int(1, 3), r.int(1, 3)];
    const direction = r.pick(["forward", "reverse", "bidirectional"]);
    const d = direction === "bidirectional" ? 2 : 1;
    const tensors: (readonly [string, TensorData])[] = [
      ["w", r.float([d, gates * hidden, size], -1, 1)],
      ["r", r.float([d, gates * hidden, hidden], -1, 1)],
    ];
    if (r.int(0, 1)) tensors.push(["b", r.float([d, 2 * gates * hidden], -1, 1)]);
    if (r.int(0, 1)) tensors.push(["lengths", r.integer(DType.int32, [batch], 1, steps)]);
    if (r.int(0, 1)) tensors.push(["h", r.float([d, batch, hidden], -1, 1)]);
    if (op === "LSTM" && r.int(0, 1)) tensors.push(["c", r.float([d, batch, hidden], -1, 1)]);
    if (op === "LSTM" && r.int(0, 1)) tensors.push(["p", r.float([d, 3 * hidden], -1, 1)]);
    const known = Object.fromEntries(tensors);
    const names = ["w", "r", "b", "lengths", "h", ...(op === "LSTM" ? ["c", "p"] : [])];
    const outputs = op === "LSTM" ? ["y", "yh", "yc"] : ["y", "yh"];
    const activations = { RNN: ["Relu"], GRU: ["HardSigmoid", "Tanh"], LSTM: ["Sigmoid", "Softsign", "Tanh"] }[op];
    const chosen: Record<string, AttributeValue> =
      r.int(0, 2) === 0 ? { activations: { strings: Array.from({ length: d }, () => activations).flat() } } : {};
    const attributes: Record<string, AttributeValue> = {
      hidden_size: hidden,
      direction,
      ...chosen,
      ...(r.int(0, 2) === 0 ? { clip: { float: 0.75 } } : {}),
      ...(op === "GRU" ? { linear_before_reset: r.int(0, 1) } : {}),
      ...(op === "LSTM" && r.int(0, 2) === 0 && !known["p"] ? { input_forget: 1 } : {}),
    };
    const runTime = r.int(0, 1) === 1 ? known : {};
    return {
      opset: 14,
      operands: { x: r.float([steps, batch, size], -1, 1), ...runTime },
      initializers: Object.keys(runTime).length > 0 ? {} : known,
      nodes: [{ op, inputs: ["x", ...names.map((name) => (known[name] ? name : ""))], outputs, attributes }],
      outputs: Object.fromEntries(outputs.map((name) => [name, F])),
      atol: 1e-5,
    };
  };

export const EINSUM_TOP_K_RECURRENT_CASES: Record<string, readonly Make[]> = {
  Einsum: [einsum, einsum],
  GRU: [recurrent("GRU"), recurrent("GRU"), recurrent("GRU")],
  LSTM: [recurrent("LSTM"), recurrent("LSTM"), recurrent("LSTM")],
  RNN: [recurrent("RNN"), recurrent("RNN")],
  ReverseSequence: [reverseSequence],
  TopK: [topK(11), topK(9)],
};
