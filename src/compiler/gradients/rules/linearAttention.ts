import type { Backward, Rule } from "../backward.ts";
import { part } from "./movement.ts";

/** Token by token: the state decays, takes the written value, and is read by the query. */
export const linearAttention: Rule = (b) => {
  const rule = b.attributes.string("update_rule", "gated_delta");
  const [heads, own] = [b.attributes.int("q_num_heads", 1), b.attributes.int("kv_num_heads", 1)];
  const [batch, length] = b.shape(0) as [number, number];
  const [keySize, valueSize] = [b.shape(1)[2]! / own, b.shape(2)[2]! / own];
  const token = (input: number, t: number, of: number): string =>
    b.shaped(part(b, b.x(input), 1, t, t + 1), [batch, of, b.shape(input)[2]! / of]);
  const scale = b.attributes.float("scale", 0) || 1 / Math.sqrt(keySize);
  const column = (x: string, size: number): string => b.shaped(x, [batch, own, size, 1]);
  let state = b.has(3) ? b.x(3) : b.zeros([batch, own, keySize, valueSize]);
  const outputs = Array.from({ length }, (_, t) => {
    const key = column(token(1, t, own), keySize);
    let write = token(2, t, own);
    if (rule.startsWith("gated")) {
      const rate = b.op("Exp", column(token(4, t, own), b.shape(4)[2]! / own));
      state = b.mul(state, rate);
    }
    if (rule.endsWith("delta")) {
      const found = b.op("MatMul", b.transpose(state, [0, 1, 3, 2]), key);
      const share = token(5, t, b.shape(5)[2]!);
      write = b.mul(share, b.sub(write, b.shaped(found, [batch, own, valueSize])));
    }
    state = b.add(state, b.mul(key, b.shaped(write, [batch, own, 1, valueSize])));
    const query = b.shaped(token(0, t, heads), [batch, own, heads / own, keySize]);
    const read = b.mul(b.op("MatMul", query, state), b.f(scale));
    return b.shaped(read, [batch, 1, heads * valueSize]);
  });
  return [b.opWith("Concat", { axis: 1 }, ...outputs), state];
};

/** A convolution over each channel's past state and input; the second output holds the last elements read. */
export const causalConvWithState: Rule = (b) => {
  const [batch, channels, length] = b.shape(0) as [number, number, number];
  const kernel = b.shape(1)[2]!;
  const past = (): string => (b.has(3) ? b.x(3) : b.zeros([batch, channels, kernel - 1]));
  const all = kernel === 1 ? b.op("Identity", b.x(0)) : b.opWith("Concat", { axis: 2 }, past(), b.x(0));
  const product = b.opWith("Conv", { group: channels }, all, b.x(1), ...biasOf(b));
  const activation = b.attributes.string("activation", "none");
  const result = ["silu", "swish"].includes(activation) ? b.mul(product, b.op("Sigmoid", product)) : product;
  return [result, kernel === 1 ? undefined : part(b, all, 2, length, length + kernel - 1)];
};

const biasOf = (b: Backward): string[] => (b.has(2) ? [b.x(2)] : []);
