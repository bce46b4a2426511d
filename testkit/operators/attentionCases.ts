/** Random experiments of the operators of attention. */
import { DType } from "../../src/numerics/dtype.ts";
import type { TensorData } from "../../src/model/onnx/model.ts";
import type { Experiment } from "../onnx/agreement.ts";
import type { AttributeValue } from "../onnx/onnxBuilder.ts";
import { F, type Make } from "./makers.ts";

function node(
  op: string,
  inputs: Readonly<Record<string, TensorData | undefined>>,
  attributes: Readonly<Record<string, AttributeValue>>,
  outputs: readonly string[] = ["y"],
): Experiment {
  const given = Object.entries(inputs).filter((entry): entry is [string, TensorData] => entry[1] !== undefined);
  const names = Object.keys(inputs).map((name) => (inputs[name] ? name : ""));
  return {
    opset: 23,
    operands: Object.fromEntries(given),
    nodes: [{ op, inputs: names, outputs, attributes }],
    outputs: Object.fromEntries(outputs.map((name) => [name, F])),
    atol: 1e-5,
  };
}

const attention =
  (rank: 3 | 4): Make =>
  (r) => {
    const [batch, kvHeads, group, size] = [r.int(1, 2), r.int(1, 2), r.int(1, 2), r.int(2, 5)];
    const heads = kvHeads * group;
    const keys = r.int(2, 5);
    const is_causal = r.int(0, 1);
    const queries = is_causal ? keys : r.int(1, 5);
    const past = rank === 4 ? r.pick([0, 0, 2]) : 0;
    const shape = (h: number, length: number): number[] =>
      rank === 4 ? [batch, h, length, size] : [batch, length, h * size];
    // The first key stays visible, because implementations disagree about a row without visible keys.
    const visible = r.bool([queries, keys + past]);
    for (let i = 0; i < queries; i++) visible.bytes[i * (keys + past)] = 1;
    const mask = r.pick([undefined, r.float([queries, keys + past]), visible]);
    const cached = past === 0 ? undefined : r.float([batch, kvHeads, past, size]);
    const inputs = {
      q: r.float(shape(heads, queries)),
      k: r.float(shape(kvHeads, keys)),
      v: r.float(shape(kvHeads, keys)),
      mask,
      pk: cached,
      pv: cached && r.float([batch, kvHeads, past, size]),
    };
    const attributes: Record<string, AttributeValue> = { is_causal };
    if (r.int(0, 1)) attributes["softcap"] = { float: 2 };
    if (rank === 3) Object.assign(attributes, { q_num_heads: heads, kv_num_heads: kvHeads });
    if (r.int(0, 1)) attributes["scale"] = { float: 0.3 };
    return node("Attention", inputs, attributes, past ? ["y", "nk", "nv"] : ["y"]);
  };

const rotary: Make = (r) => {
  const [batch, heads, length, half, rest] = [r.int(1, 2), r.int(1, 3), r.int(1, 4), r.int(1, 3), r.pick([0, 2])];
  const size = 2 * half + rest;
  const flat = r.int(0, 1) === 1;
  const x = r.float(flat ? [batch, length, heads * size] : [batch, heads, length, size]);
  const positions = r.int(0, 1) ? r.integer(DType.int64, [batch, length], 0, 7) : undefined;
  const cache = (): TensorData => r.float(positions ? [8, half] : [batch, length, half], -1, 1);
  const attributes = {
    interleaved: r.int(0, 1),
    ...(flat || rest ? { num_heads: heads } : {}),
    ...(rest ? { rotary_embedding_dim: 2 * half } : {}),
  };
  return node("RotaryEmbedding", { x, cos: cache(), sin: cache(), positions }, attributes);
};

/** The operators of attention of the table. */
export const ATTENTION_CASES: Record<string, readonly Make[]> = {
  Attention: [attention(3), attention(4), attention(4)],
  RotaryEmbedding: [rotary, rotary],
};
