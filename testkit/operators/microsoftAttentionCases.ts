/** Random experiments for com.microsoft's operators around attention. */
import { DType } from "../../src/numerics/dtype.ts";
import { int64Tensor } from "../../src/model/onnx/tensorData.ts";
import type { TensorData } from "../../src/model/onnx/model.ts";
import type { AttributeValue } from "../onnx/onnxBuilder.ts";
import type { RandomTensors } from "../random/tensors.ts";
import { F, type Make } from "./makers.ts";
import { fused } from "./microsoftCases.ts";

const int32 = (values: readonly number[], shape: readonly number[] = [values.length]): TensorData => ({
  dtype: DType.int32,
  shape,
  bytes: new Uint8Array(Int32Array.from(values).buffer),
});

/** Returns a key mask in a given form. At least the first key stays. */
function keyMask(r: RandomTensors, batch: number, queries: number, keys: number, forms: readonly string[]) {
  const form = r.pick(forms);
  const kept = (shape: readonly number[]): TensorData => {
    const mask = r.integer(DType.int32, shape, 0, 1);
    new Int32Array(mask.bytes.buffer, 0).forEach((_, i, all) => (i % keys === 0 ? (all[i] = 1) : undefined));
    return mask;
  };
  const ends = Array.from({ length: batch }, () => r.int(1, keys));
  if (form === "ends") return int32(ends);
  if (form === "bounds") return int32([...ends, ...ends.map((end) => r.int(0, end - 1))]);
  if (form === "keys") return kept([batch, keys]);
  return form === "all" ? kept([batch, queries, keys]) : undefined;
}

const attention: Make = (r) => {
  const [batch, heads, size, width, length] = [r.int(1, 2), r.int(1, 3), r.int(1, 4), r.int(1, 5), r.int(1, 4)];
  const past = r.pick([0, 0, 2]);
  const vSize = past ? size : r.pick([size, size + 1]);
  const sizes = [heads * size, heads * size, heads * vSize];
  const total = sizes.reduce((a, b) => a + b, 0);
  const attributes: Record<string, AttributeValue> = { num_heads: heads, unidirectional: r.int(0, 1) };
  if (vSize !== size) attributes["qkv_hidden_sizes"] = sizes;
  if (r.int(0, 2) === 0) attributes["scale"] = { float: 0.5 };
  if (r.int(0, 2) === 0) attributes["mask_filter_value"] = { float: -1000 };
  const keys = length + past;
  const inputs = {
    x: r.float([batch, length, width], -2, 2),
    w: r.float([width, total], -1, 1),
    b: r.float([total], -1, 1),
    mask: keyMask(r, batch, length, keys, past ? ["none", "keys", "all"] : ["none", "ends", "bounds", "keys", "all"]),
    past: past ? r.float([2, batch, heads, past, size]) : undefined,
    bias: !past && r.int(0, 2) === 0 ? r.float([r.pick([1, batch]), r.pick([1, heads]), length, keys]) : undefined,
  };
  return fused("Attention", inputs, attributes, past ? { y: F, p: F } : { y: F });
};

const multiHead: Make = (r) => {
  const [batch, heads, size, length] = [r.int(1, 2), r.int(1, 3), r.int(1, 4), r.int(1, 4)];
  const form = r.pick(["plain", "plain", "finished"]);
  const keys = r.int(1, 4);
  const width = heads * size;
  const past = form === "plain" && r.int(0, 2) === 0 ? 2 : 0;
  const unidirectional = keys === length ? r.int(0, 1) : 0;
  const x = (n: number): TensorData => r.float([batch, n, width], -2, 2);
  const parts = {
    plain: [x(length), x(keys), x(keys)],
    finished: [x(length), r.float([batch, heads, keys, size], -2, 2), r.float([batch, heads, keys, size], -2, 2)],
  }[form]!;
  const inputs = {
    q: parts[0],
    k: parts[1],
    v: parts[2],
    b: form === "plain" && r.int(0, 1) ? r.float([3 * width], -1, 1) : undefined,
    mask: keyMask(r, batch, length, keys + past, ["none", "none", "keys"]),
    bias: r.int(0, 2) === 0 ? r.float([1, heads, length, keys + past]) : undefined,
    pk: past ? r.float([batch, heads, past, size]) : undefined,
    pv: past ? r.float([batch, heads, past, size]) : undefined,
  };
  const attributes = { num_heads: heads, unidirectional, ...(r.int(0, 1) ? { scale: { float: 0.7 } } : {}) };
  return fused("MultiHeadAttention", inputs, attributes, past ? { y: F, nk: F, nv: F } : { y: F });
};

const grouped: Make = (r) => {
  const [batch, kvHeads, group, half] = [r.int(1, 2), r.int(1, 2), r.int(1, 3), 8];
  const [heads, size] = [kvHeads * group, 2 * half];
  const past = r.pick([0, 3]);
  // onnxruntime continues several texts by one word at a time only.
  const length = past ? r.pick(batch === 1 ? [1, 2] : [1]) : r.int(1, 5);
  const packed = r.int(0, 2) === 0;
  const rotary = r.int(0, 1);
  const total = past + length;
  const kv = (): TensorData | undefined => (packed ? undefined : r.float([batch, length, kvHeads * size], -2, 2));
  const cache = (): TensorData | undefined => (rotary ? r.float([8, half], -1, 1) : undefined);
  const old = (): TensorData | undefined => (past ? r.float([batch, kvHeads, past, size]) : undefined);
  const inputs = {
    q: r.float([batch, length, (heads + (packed ? 2 * kvHeads : 0)) * size], -2, 2),
    k: kv(),
    v: kv(),
    pk: old(),
    pv: old(),
    ends: int32(Array.from({ length: batch }, () => total - 1)),
    total: int32([total], []),
    cos: cache(),
    sin: cache(),
    at: undefined,
    bias: r.int(0, 3) === 0 ? r.float([1, heads, length, total]) : undefined,
    sink: r.int(0, 3) === 0 ? r.float([heads]) : undefined,
  };
  const attributes = {
    num_heads: heads,
    kv_num_heads: kvHeads,
    do_rotary: rotary,
    rotary_interleaved: r.int(0, 1),
    ...(r.int(0, 2) === 0 ? { local_window_size: 2 } : {}),
    ...(r.int(0, 2) === 0 ? { softcap: { float: 3 } } : {}),
    ...(r.int(0, 2) === 0 ? { scale: { float: 0.3 } } : {}),
    ...(inputs.sink === undefined && r.int(0, 2) === 0 ? { smooth_softmax: 1 } : {}),
  };
  const made = fused("GroupQueryAttention", inputs, attributes, { y: F, nk: F, nv: F });
  const { ends, total: whole, ...operands } = made.operands;
  return { ...made, operands, initializers: { ends: ends!, total: whole! } };
};

const rotary: Make = (r) => {
  const [batch, heads, length, half] = [r.int(1, 2), r.int(1, 3), r.int(1, 4), r.int(1, 3)];
  const rest = r.pick([0, 2]);
  const size = 2 * half + rest;
  const flat = r.int(0, 1) === 1;
  const inputs = {
    x: r.float(flat ? [batch, length, heads * size] : [batch, heads, length, size]),
    at: r.int(0, 1) ? int64Tensor([r.int(0, 4)]) : r.integer(DType.int64, [batch, length], 0, 7),
    cos: r.float([8, half], -1, 1),
    sin: r.float([8, half], -1, 1),
  };
  const partial: Record<string, number> = rest ? { rotary_embedding_dim: 2 * half, num_heads: heads } : {};
  return fused("RotaryEmbedding", inputs, { interleaved: r.int(0, 1), ...partial });
};

const embed: Make = (r) => {
  const [batch, length, width] = [r.int(1, 2), r.int(1, 4), 6];
  const ids = (high: number): TensorData => r.integer(DType.int32, [batch, length], 0, high);
  const segments = r.int(0, 1) === 1;
  const inputs = {
    ids: ids(6),
    segments: segments ? ids(1) : undefined,
    words: r.float([7, width]),
    places: r.float([8, width]),
    kinds: segments ? r.float([2, width]) : undefined,
    g: r.float([width]),
    b: r.float([width]),
    mask: r.int(0, 1) ? ids(1) : undefined,
    at: r.int(0, 1) ? ids(7) : undefined,
  };
  return fused("EmbedLayerNormalization", inputs, { epsilon: { float: 1e-6 } }, { y: F, n: DType.int32 });
};

const skipSimplified: Make = (r) => {
  const shape = [2, 3, 8];
  const inputs = { x: r.float(shape), s: r.float(shape), g: r.float([8]), b: r.int(0, 1) ? r.float([8]) : undefined };
  const made = fused("SkipSimplifiedLayerNormalization", inputs, { epsilon: { float: 1e-6 } }, { y: F, sum: F });
  const [node] = made.nodes;
  return { ...made, nodes: [{ ...node!, outputs: ["y", "", "", "sum"] }] };
};

/** Attention and its surroundings. */
export const MICROSOFT_ATTENTION_CASES: Record<string, readonly Make[]> = {
  Attention: [attention, attention, attention],
  EmbedLayerNormalization: [embed],
  GroupQueryAttention: [grouped, grouped, grouped],
  MultiHeadAttention: [multiHead, multiHead, multiHead],
  RotaryEmbedding: [rotary, rotary],
  SkipSimplifiedLayerNormalization: [skipSimplified],
};
