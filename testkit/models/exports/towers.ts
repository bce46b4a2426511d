/** Networks for sound, for text with pictures, and for sentences, in PyTorch's export form. */
import { DType } from "../../../src/numerics/dtype.ts";
import type { TensorData } from "../../../src/model/onnx/model.ts";
import { floatTensor, int64Tensor } from "../../../src/model/onnx/tensorData.ts";
import { joinHeads, LOWEST_FLOAT32, sdpa, splitHeads } from "./attention.ts";
import { Exporter, type Exported } from "./exporter.ts";

const SEQUENCE = ["batch_size", "sequence_length"];

const bool = (value: boolean): TensorData => ({ dtype: DType.bool, shape: [], bytes: Uint8Array.of(Number(value)) });

/** Whisper: convolutions over time, an encoder, a decoder that attends to it, the mask made by comparing ranges. */
function whisper(): Exported {
  const [g, width, heads] = [new Exporter(24), 24, 3];
  const inputs = { mel: g.random.float([1, 10, 24], -1, 1), tokens: g.random.integer(DType.int64, [1, 4], 0, 29) };
  const attend = (x: string, to: string, mask?: string): string => {
    const [q, k, v] = [x, to, to].map((of) => splitHeads(g, g.linear(of, width, width), heads, width / heads)) as [
      string,
      string,
      string,
    ];
    return g.linear(joinHeads(g, sdpa(g, q, k, v, mask), width), width, width);
  };
  const feed = (x: string): string =>
    g.linear(g.gelu(g.linear(g.layerNorm(x, width), width, 2 * width)), 2 * width, width);
  let e = g.gelu(g.conv("mel", 10, width, [3]));
  e = g.gelu(g.conv(e, width, width, [3], { strides: [2] }));
  e = g.node("Add", [g.node("Transpose", [e], { perm: [0, 2, 1] }), g.weight([12, width])]);
  const normal = g.layerNorm(e, width);
  e = g.node("Add", [e, attend(normal, normal)]);
  e = g.layerNorm(g.node("Add", [e, feed(e)]), width);
  const length = g.size("tokens", 1);
  const range = g.node("Range", [g.int(0), length, g.int(1)]);
  const later = g.node("Less", [g.node("Unsqueeze", [range, g.ints(1)]), g.node("Unsqueeze", [range, g.ints(0)])]);
  const mask = g.node("Where", [later, g.float(-Infinity), g.float(0)]);
  let y = g.node("Add", [
    g.node("Gather", [g.weight([30, width], 1), "tokens"]),
    g.node("Slice", [g.weight([8, width]), g.ints(0), g.node("Unsqueeze", [length, g.ints(0)]), g.ints(0)]),
  ]);
  const own = g.layerNorm(y, width);
  y = g.node("Add", [y, attend(own, own, mask)]);
  y = g.node("Add", [y, attend(g.layerNorm(y, width), e)]);
  y = g.layerNorm(g.node("Add", [y, feed(y)]), width);
  return g.model(
    "whisper",
    17,
    inputs,
    { mel: ["batch", 10, "frames"], tokens: ["batch", "length"] },
    { logits: [g.node("MatMul", [y, g.weight([width, 30])])] },
  );
}

/**
 * CLIP's text tower: the features at the end-of-text token, which has the largest number, and their similarity to
 * pictures.
 */
function clip(): Exported {
  const [g, width, heads] = [new Exporter(25), 24, 3];
  const ids = int64Tensor([40, 3, 5, 49, 0, 0, 40, 7, 8, 9, 11, 49], [2, 6]);
  const pictures = g.random.float([3, 16], -1, 1);
  let y = g.node("Add", [g.node("Gather", [g.weight([50, width], 1), "ids"]), g.weight([1, 6, width])]);
  const length = g.size("ids", 1);
  const full = g.node("ConstantOfShape", [g.shape(length, length)], {
    value: { tensor: floatTensor([LOWEST_FLOAT32]) },
  });
  const mask = g.node("Trilu", [full, g.int(1)]);
  const x = g.layerNorm(y, width);
  const [q, k, v] = [0, 1, 2].map(() => splitHeads(g, g.linear(x, width, width), heads, width / heads)) as [
    string,
    string,
    string,
  ];
  y = g.node("Add", [y, g.linear(joinHeads(g, sdpa(g, q, k, v, mask), width), width, width)]);
  const inner = g.linear(g.layerNorm(y, width), width, 2 * width);
  // The quick GELU.
  const gate = g.node("Sigmoid", [g.node("Mul", [inner, g.float(1.702)])]);
  y = g.layerNorm(g.node("Add", [y, g.linear(g.node("Mul", [inner, gate]), 2 * width, width)]), width);
  // x[arange(batch), ids.argmax(-1)]
  const ends = g.node("ArgMax", [g.node("Cast", ["ids"], { to: DType.int32 })], { axis: -1, keepdims: 0 });
  const rows = g.node("Range", [g.int(0), g.size("ids", 0), g.int(1)]);
  const index = g.node("Concat", [g.node("Unsqueeze", [rows, g.ints(-1)]), g.node("Unsqueeze", [ends, g.ints(-1)])], {
    axis: -1,
  });
  const text = g.node("MatMul", [g.node("GatherND", [y, index]), g.weight([width, 16])]);
  const unit = (t: string): string => g.node("Div", [t, g.node("ReduceL2", [t], { axes: [-1], keepdims: 1 })]);
  const scale = g.node("Exp", [g.initializer(floatTensor([2.6592], []))]);
  const similar = g.node("Mul", [
    g.node("MatMul", [unit(text), g.node("Transpose", [unit("pictures")], { perm: [1, 0] })]),
    scale,
  ]);
  const inputs = { ids, pictures };
  return g.model(
    "clip",
    14,
    inputs,
    { ids: ["batch", "length"], pictures: ["pictures", 16] },
    { probabilities: [g.node("Softmax", [similar], { axis: -1 })] },
  );
}

/** T5: relative positions put into buckets by a logarithm, and added to the scores. */
function t5(): Exported {
  const [g, width, heads] = [new Exporter(26), 16, 2];
  const ids = g.random.integer(DType.int64, [1, 9], 0, 29);
  const y = g.node("Gather", [g.weight([30, width], 1), "ids"]);
  const range = g.node("Range", [g.int(0), g.size("ids", 1), g.int(1)]);
  const distance = g.node("Sub", [g.node("Unsqueeze", [range, g.ints(0)]), g.node("Unsqueeze", [range, g.ints(1)])]);
  const ahead = g.node("Mul", [
    g.node("Cast", [g.node("Greater", [distance, g.int(0)])], { to: DType.int64 }),
    g.int(4),
  ]);
  const far = g.node("Abs", [distance]);
  const logs = g.node("Div", [
    g.node("Log", [g.node("Div", [g.node("Cast", [far], { to: DType.float32 }), g.float(2)])]),
    g.float(Math.log(8)),
  ]);
  const steps = g.node("Cast", [g.node("Mul", [logs, g.float(2)])], { to: DType.int64 });
  const large = g.node("Min", [
    g.node("Add", [steps, g.int(2)]),
    g.node("ConstantOfShape", [g.node("Shape", [steps])], { value: { tensor: int64Tensor([3]) } }),
  ]);
  const bucket = g.node("Add", [ahead, g.node("Where", [g.node("Less", [far, g.int(2)]), far, large])]);
  const bias = g.node("Unsqueeze", [
    g.node("Transpose", [g.node("Gather", [g.weight([8, heads], 1), bucket])], { perm: [2, 0, 1] }),
    g.ints(0),
  ]);
  const [q, k, v] = [0, 1, 2].map(() => splitHeads(g, g.linear(y, width, width), heads, width / heads)) as [
    string,
    string,
    string,
  ];
  const scores = g.node("Add", [g.node("MatMul", [q, g.node("Transpose", [k], { perm: [0, 1, 3, 2] })]), bias]);
  const mixed = joinHeads(g, g.node("MatMul", [g.node("Softmax", [scores], { axis: -1 }), v]), width);
  return g.model(
    "t5",
    13,
    { ids },
    { ids: ["batch", "length"] },
    { hidden: [g.node("Relu", [g.linear(mixed, width, width)])] },
  );
}

/** A normalised mean over the hidden states kept by a mask, in the export form of sentence-transformers. */
function sentenceEncoder(): Exported {
  const [g, width] = [new Exporter(27), 24];
  const inputs = {
    ids: g.random.integer(DType.int64, [2, 5], 0, 29),
    mask: int64Tensor([1, 1, 1, 0, 0, 1, 1, 1, 1, 1], [2, 5]),
  };
  const y = g.layerNorm(g.linear(g.node("Gather", [g.weight([30, width], 1), "ids"]), width, width), width);
  const wide = g.node("Cast", [g.node("Expand", [g.node("Unsqueeze", ["mask", g.ints(-1)]), g.node("Shape", [y])])], {
    to: DType.float32,
  });
  const sum = g.node("ReduceSum", [g.node("Mul", [y, wide]), g.ints(1)], { keepdims: 0 });
  const count = g.node("Clip", [g.node("ReduceSum", [wide, g.ints(1)], { keepdims: 0 }), g.float(1e-9)]);
  const mean = g.node("Div", [sum, count]);
  const norm = g.node("Expand", [
    g.node("Clip", [g.node("ReduceL2", [mean], { axes: [1], keepdims: 1 }), g.float(1e-12)]),
    g.node("Shape", [mean]),
  ]);
  const useless = g.node("Dropout", [g.node("Div", [mean, norm]), g.float(0.1), g.constant(bool(false))]);
  return g.model("sentenceEncoder", 17, inputs, { ids: SEQUENCE, mask: SEQUENCE }, { embedding: [useless] });
}

export const TOWERS = [whisper, clip, t5, sentenceEncoder];
