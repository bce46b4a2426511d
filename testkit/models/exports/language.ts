/** Text encoders and decoders, in the forms exported by PyTorch, Optimum and onnxruntime's tools. */
import { DType } from "../../../src/numerics/dtype.ts";
import type { TensorData } from "../../../src/model/onnx/model.ts";
import { floatTensor, int64Tensor } from "../../../src/model/onnx/tensorData.ts";
import { joinHeads, LOWEST_FLOAT32, sdpa, splitHeads } from "./attention.ts";
import { Exporter, type Exported } from "./exporter.ts";

const SEQUENCE = ["batch_size", "sequence_length"];

/** BERT with dynamic axes: positions cut from a buffer, the mask expanded to [batch, 1, length, length]. */
function bert(): Exported {
  const [g, width, heads] = [new Exporter(21), 24, 3];
  const ids = g.random.integer(DType.int64, [2, 7], 0, 49);
  const mask = int64Tensor([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0], [2, 7]);
  const [batch, length] = [g.size("input_ids", 0), g.size("input_ids", 1)];
  const buffer = g.constant(
    int64Tensor(
      Array.from({ length: 32 }, (_, i) => i),
      [1, 32],
    ),
  );
  const positions = g.node("Slice", [
    buffer,
    g.ints(0),
    g.node("Unsqueeze", [length, g.ints(0)]),
    g.ints(1),
    g.ints(1),
  ]);
  const types = g.node("Expand", [
    g.node("Slice", [
      g.constant(int64Tensor(new Array<number>(32).fill(0), [1, 32])),
      g.ints(0),
      g.node("Unsqueeze", [length, g.ints(0)]),
      g.ints(1),
    ]),
    g.shape(batch, length),
  ]);
  const embed = (rows: number, of: string): string => g.node("Gather", [g.weight([rows, width], 1), of]);
  let y = g.node("Add", [g.node("Add", [embed(50, "input_ids"), embed(2, types)]), embed(32, positions)]);
  y = g.layerNorm(y, width);
  const wide = g.node("Unsqueeze", [g.node("Unsqueeze", ["attention_mask", g.ints(1)]), g.ints(2)]);
  const kept = g.node("Cast", [g.node("Expand", [wide, g.shape(batch, 1, length, length)])], { to: DType.float32 });
  const inverse = g.node("Sub", [g.float(1), kept]);
  const bias = g.node("Where", [g.node("Cast", [inverse], { to: DType.bool }), g.float(LOWEST_FLOAT32), inverse]);
  for (let layer = 0; layer < 2; layer++) {
    const [q, k, v] = [0, 1, 2].map(() => splitHeads(g, g.linear(y, width, width), heads, width / heads)) as [
      string,
      string,
      string,
    ];
    const mixed = joinHeads(g, sdpa(g, q, k, v, bias), width);
    y = g.layerNorm(g.node("Add", [g.linear(mixed, width, width), y]), width);
    y = g.layerNorm(g.node("Add", [g.linear(g.gelu(g.linear(y, width, 2 * width)), 2 * width, width), y]), width);
  }
  const pooled = g.node("Tanh", [
    g.node("Gemm", [g.node("Gather", [y, g.int(0)], { axis: 1 }), g.weight([width, width]), g.weight([width])], {
      transB: 1,
    }),
  ]);
  return g.model(
    "bert",
    14,
    { input_ids: ids, attention_mask: mask },
    { input_ids: SEQUENCE, attention_mask: SEQUENCE },
    { last_hidden_state: [y], pooler_output: [pooled] },
  );
}

/**
 * GPT-2 with past keys and values: Conv1D as Gemm, one Split into three, the causal mask cut from a triangle, tied
 * weights.
 */
export const gpt2 = (): Exported => gpt2After(4);

/** Its first tokens: the past has no elements. */
const gpt2First = (): Exported => gpt2After(0);

/** The same with positions from elsewhere than the length of the past, and with the names that Optimum gives. */
export const gpt2Decoder = (positions: Positions): Exported => gpt2After(4, positions, "past_key_values");

/** Where the positions of tokens come from: the length of the past, the mask, or an input. */
type Positions = "past" | "mask" | "input";

function gpt2After(past: number, from: Positions = "past", prefix = "past"): Exported {
  const [g, width, heads] = [new Exporter(22), 24, 3];
  const ids = g.random.integer(DType.int64, [1, 3], 0, 49);
  const cache = (): TensorData => g.random.float([1, heads, past, width / heads], -1, 1);
  const inputs: Record<string, TensorData> = {
    input_ids: ids,
    attention_mask: int64Tensor(new Array<number>(3 + past).fill(1), [1, 3 + past]),
  };
  const dims: Record<string, (string | number)[]> = {
    input_ids: SEQUENCE,
    attention_mask: ["batch_size", "total_length"],
  };
  if (from === "input") {
    inputs.position_ids = int64Tensor([past, past + 1, past + 2], [1, 3]);
    dims.position_ids = SEQUENCE;
  }
  for (const name of ["0.key", "0.value", "1.key", "1.value"].map((end) => `${prefix}.${end}`)) {
    inputs[name] = cache();
    dims[name] = ["batch_size", heads, "past_length", width / heads];
  }
  const positions = gpt2Positions(g, from, `${prefix}.0.key`);
  const table = g.weight([50, width], 1);
  let y = g.node("Add", [
    g.node("Gather", [table, "input_ids"]),
    g.node("Gather", [g.weight([16, width], 1), positions]),
  ]);
  const conv1d = (x: string, from: number, to: number): string => {
    const [n, s] = [g.size(x, 0), g.size(x, 1)];
    const rows = g.node("Reshape", [x, g.ints(-1, from)]);
    const product = g.node("Gemm", [rows, g.weight([from, to]), g.weight([to])], {
      alpha: { float: 1 },
      beta: { float: 1 },
    });
    return g.reshape(product, n, s, to);
  };
  const triangle = g.constant({
    dtype: DType.bool,
    shape: [1, 1, 16, 16],
    bytes: Uint8Array.from({ length: 256 }, (_, i) => Number(i % 16 <= Math.floor(i / 16))),
  });
  const padding = g.node("Mul", [
    g.node("Sub", [
      g.float(1),
      g.node("Cast", [g.node("Unsqueeze", ["attention_mask", g.ints(1, 2)])], { to: DType.float32 }),
    ]),
    g.float(LOWEST_FLOAT32),
  ]);
  const outputs: Record<string, [string]> = {};
  for (let layer = 0; layer < 2; layer++) {
    const parts = g.nodeOf("Split", [conv1d(g.layerNorm(y, width), width, 3 * width), g.ints(width, width, width)], 3, {
      axis: 2,
    });
    const [q, own, values] = parts.map((part) => splitHeads(g, part, heads, width / heads)) as [string, string, string];
    const k = g.node("Concat", [`${prefix}.${layer}.key`, own], { axis: -2 });
    const v = g.node("Concat", [`${prefix}.${layer}.value`, values], { axis: -2 });
    outputs[`present.${layer}.key`] = [k];
    outputs[`present.${layer}.value`] = [v];
    const [queries, keys] = [g.size(q, 2), g.size(k, 2)];
    const unsqueezed = (x: string): string => g.node("Unsqueeze", [x, g.ints(0)]);
    const rows = g.node("Slice", [
      triangle,
      unsqueezed(g.node("Sub", [keys, queries])),
      unsqueezed(keys),
      g.ints(2),
      g.ints(1),
    ]);
    const causal = g.node("Slice", [rows, g.ints(0), unsqueezed(keys), g.ints(3), g.ints(1)]);
    const scores = g.node("Div", [
      g.node("MatMul", [q, g.node("Transpose", [k], { perm: [0, 1, 3, 2] })]),
      g.float(Math.sqrt(width / heads)),
    ]);
    const masked = g.node("Add", [g.node("Where", [causal, scores, g.float(LOWEST_FLOAT32)]), padding]);
    const mixed = joinHeads(g, g.node("MatMul", [g.node("Softmax", [masked], { axis: -1 }), v]), width);
    y = g.node("Add", [y, conv1d(mixed, width, width)]);
    const inner = conv1d(g.layerNorm(y, width), width, 2 * width);
    const cubic = g.node("Add", [inner, g.node("Mul", [g.node("Pow", [inner, g.float(3)]), g.float(0.044715)])]);
    const gate = g.node("Add", [g.node("Tanh", [g.node("Mul", [cubic, g.float(Math.sqrt(2 / Math.PI))])]), g.float(1)]);
    y = g.node("Add", [y, conv1d(g.node("Mul", [g.node("Mul", [inner, g.float(0.5)]), gate]), 2 * width, width)]);
  }
  const logits = g.node("MatMul", [g.layerNorm(y, width), g.node("Transpose", [table], { perm: [1, 0] })]);
  return g.model("gpt2", 13 + 4, inputs, dims, { logits: [logits], ...outputs });
}

function gpt2Positions(g: Exporter, from: Positions, past: string): string {
  if (from === "input") return "position_ids";
  const [length, before] = [g.size("input_ids", 1), g.size(past, 2)];
  if (from === "past")
    return g.node("Unsqueeze", [g.node("Range", [before, g.node("Add", [before, length]), g.int(1)]), g.ints(0)]);
  const all = g.node("Sub", [g.node("CumSum", ["attention_mask", g.int(1)]), g.ints(1)]);
  const ends = g.node("Shape", ["attention_mask"]);
  const end = g.node("Gather", [ends, g.ints(1)], { axis: 0 });
  const start = g.node("Sub", [end, g.node("Unsqueeze", [length, g.ints(0)])]);
  return g.node("Slice", [all, start, end, g.ints(1)]);
}

/**
 * LLaMA: RMS norms written out, rotary positions from sines, grouped keys repeated by Expand, SwiGLU, a mask by Trilu.
 */
export function llama(): Exported {
  const [g, width, heads, groups] = [new Exporter(23), 24, 4, 2];
  const size = width / heads;
  const ids = g.random.integer(DType.int64, [1, 6], 0, 49);
  const positions = int64Tensor([0, 1, 2, 3, 4, 5], [1, 6]);
  let y = g.node("Gather", [g.weight([50, width], 1), "input_ids"]);
  const rms = (x: string): string => {
    const mean = g.node("ReduceMean", [g.node("Pow", [x, g.float(2)]), g.ints(-1)], { keepdims: 1 });
    const root = g.node("Sqrt", [g.node("Add", [mean, g.float(1e-6)])]);
    return g.node("Mul", [g.weight([width], 0.1, 1), g.node("Mul", [x, g.node("Div", [g.float(1), root])])]);
  };
  const inverse = g.constant(
    floatTensor(
      Array.from({ length: size / 2 }, (_, i) => 10_000 ** ((-2 * i) / size)),
      [1, size / 2, 1],
    ),
  );
  const spread = g.node("Expand", [inverse, g.shape(g.size("position_ids", 0), size / 2, 1)]);
  const angles = g.node(
    "Transpose",
    [
      g.node("MatMul", [
        spread,
        g.node("Cast", [g.node("Unsqueeze", ["position_ids", g.ints(1)])], { to: DType.float32 }),
      ]),
    ],
    { perm: [0, 2, 1] },
  );
  const both = g.node("Concat", [angles, angles], { axis: -1 });
  const [cos, sin] = ["Cos", "Sin"].map((op) => g.node("Unsqueeze", [g.node(op, [both]), g.ints(1)])) as [
    string,
    string,
  ];
  const rotate = (x: string): string => {
    const low = g.node("Slice", [x, g.ints(0), g.ints(size / 2), g.ints(3), g.ints(1)]);
    const high = g.node("Slice", [
      x,
      g.ints(size / 2),
      g.constant(int64Tensor([2n ** 63n - 1n])),
      g.ints(3),
      g.ints(1),
    ]);
    const turned = g.node("Concat", [g.node("Neg", [high]), low], { axis: -1 });
    return g.node("Add", [g.node("Mul", [x, cos]), g.node("Mul", [turned, sin])]);
  };
  const length = g.size("input_ids", 1);
  const full = g.node("Expand", [g.float(LOWEST_FLOAT32), g.shape(length, length)]);
  const mask = g.node("Unsqueeze", [g.node("Trilu", [full, g.int(1)], { upper: 1 }), g.ints(0, 1)]);
  const repeat = (x: string): string => {
    const [n, s] = [g.size(x, 0), g.size(x, 2)];
    const wide = g.node("Expand", [g.node("Unsqueeze", [x, g.ints(2)]), g.shape(n, groups, heads / groups, s, size)]);
    return g.reshape(wide, n, heads, s, size);
  };
  for (let layer = 0; layer < 2; layer++) {
    const x = rms(y);
    const project = (to: number): string => g.node("MatMul", [x, g.weight([width, to], 0.2)]);
    const q = rotate(splitHeads(g, project(width), heads, size));
    const k = repeat(rotate(splitHeads(g, project(groups * size), groups, size)));
    const v = repeat(splitHeads(g, project(groups * size), groups, size));
    y = g.node("Add", [y, g.node("MatMul", [joinHeads(g, sdpa(g, q, k, v, mask), width), g.weight([width, width])])]);
    const z = rms(y);
    const gate = g.node("MatMul", [z, g.weight([width, 32])]);
    const swish = g.node("Mul", [gate, g.node("Sigmoid", [gate])]);
    y = g.node("Add", [
      y,
      g.node("MatMul", [g.node("Mul", [swish, g.node("MatMul", [z, g.weight([width, 32])])]), g.weight([32, width])]),
    ]);
  }
  const last = g.node("Slice", [rms(y), g.ints(-1), g.constant(int64Tensor([2n ** 63n - 1n])), g.ints(1)]);
  const dims = { input_ids: SEQUENCE, position_ids: SEQUENCE };
  return g.model("llama", 18, { input_ids: ids, position_ids: positions }, dims, {
    logits: [g.node("MatMul", [last, g.weight([width, 50])])],
  });
}

export const LANGUAGE = [bert, gpt2, gpt2First, llama];
