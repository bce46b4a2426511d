import { floatWord } from "../../numerics/numbers.ts";
import type { LazyTensor } from "../expressions/tensor.ts";
import { broadcast } from "../lowering/broadcast.ts";
import { concatenate } from "../lowering/concatenate.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";
import { slicedAlong } from "../lowering/slices.ts";
import { transposed } from "../steps/views.ts";
import { addBias, convolution } from "./conv.ts";
import { matrixProduct } from "./matmul.ts";

/** The maximum number of tokens: they are computed one after the other. */
const MAX_TOKENS = 4096;

const RULES = ["linear", "gated", "delta", "gated_delta"];

/** [batch, length, heads * size] at token t: [batch, heads, size]. */
function tokenOf(context: NodeContext, x: LazyTensor, t: number, heads: number): LazyTensor {
  const [batch = 0, , width = 0] = x.shape;
  return context.builder.reshape(slicedAlong(context, x, 1, t, 1), [batch, heads, width / heads]);
}

/**
 * LinearAttention: token by token, decayed = state * exp(decay); write = v, or by the delta rules beta * (v - dot(k,
 * decayed)); state = decayed + k * write; y = scale * dot(q, state). Each state head serves an equal number of q heads.
 */
export const linearAttention: Lower = (context) => {
  const { builder, expressions: e } = context;
  const rule = context.string("update_rule", "gated_delta");
  if (!RULES.includes(rule)) return context.refuse("update_rule", `is ${rule}`);
  // How an engine cuts the tokens into chunks changes nothing in what is computed.
  context.ignore("chunk_size");
  const [q, k, v] = [context.floatInput(0), context.floatInput(1), context.floatInput(2)];
  const [heads, own] = [context.int("q_num_heads", 0), context.int("kv_num_heads", 0)];
  const [batch = 0, length = 0, width = 0] = q.shape;
  const [keySize, valueSize] = [(k.shape[2] ?? 0) / own, (v.shape[2] ?? 0) / own];
  const fits =
    [q, k, v].every(({ shape }) => shape.length === 3 && shape[0] === batch && shape[1] === length) &&
    heads >= 1 &&
    own >= 1 &&
    heads % own === 0 &&
    width === heads * keySize &&
    Number.isInteger(keySize) &&
    Number.isInteger(valueSize);
  if (!fits || length < 1)
    return context.fail(`q [${q.shape.join()}], k [${k.shape.join()}], v [${v.shape.join()}], ${heads}/${own} heads`);
  if (length > MAX_TOKENS) return context.refuse("input 0", `has ${length} tokens, at most ${MAX_TOKENS}`);
  const needed = (index: number, name: string): LazyTensor => {
    const tensor = context.floatInput(index);
    const [rows = 0, tokens = 0, values = 0] = tensor.shape;
    if (tensor.shape.length !== 3 || rows !== batch || tokens !== length || values < 1)
      return context.fail(`${name} [${tensor.shape.join()}]`);
    return tensor;
  };
  const decay = rule.startsWith("gated") ? needed(4, "decay") : undefined;
  const beta = rule.endsWith("delta") ? needed(5, "beta") : undefined;
  if (decay !== undefined && decay.shape[2]! % own !== 0) return context.fail(`decay [${decay.shape.join()}]`);
  if (beta !== undefined && beta.shape[2] !== own && beta.shape[2] !== 1)
    return context.fail(`beta [${beta.shape.join()}]`);
  const scale = context.float("scale", 0) || Math.fround(1 / Math.fround(Math.sqrt(keySize)));
  const stateShape = [batch, own, keySize, valueSize];
  let state = context.optional(3) ? context.floatInput(3) : builder.filled(q.dtype, stateShape, 0n);
  if (state.shape.join() !== stateShape.join()) return context.fail(`a past state [${state.shape.join()}]`);
  const column = (x: LazyTensor): LazyTensor => builder.reshape(x, [...x.shape, 1]);
  const outputs = context.tabulate(length, (t) => {
    const kt = tokenOf(context, k, t, own);
    let write = tokenOf(context, v, t, own);
    if (decay !== undefined) {
      const rate = column(tokenOf(context, decay, t, own));
      state = broadcast(context, [state, rate], (s, d) => e.mul(s, e.exp(d)));
      builder.realise(state);
    }
    if (beta !== undefined) {
      const found = matrixProduct(context, transposed(e, state, [0, 1, 3, 2]), column(kt));
      const known = builder.reshape(found, write.shape);
      const share = tokenOf(context, beta, t, beta.shape[2]!);
      write = broadcast(context, [share, write, known], (b, x, y) => e.mul(b, e.sub(x, y)));
      builder.realise(write);
    }
    const row = builder.reshape(write, [batch, own, 1, valueSize]);
    state = broadcast(context, [state, column(kt), row], (s, a, b) => e.add(s, e.mul(a, b)));
    builder.realise(state);
    const qt = builder.reshape(tokenOf(context, q, t, heads), [batch, own, heads / own, keySize]);
    const read = matrixProduct(context, qt, state);
    const scaled = broadcast(context, [read], (x) => e.mul(x, e.like(x, scale)));
    builder.realise(scaled);
    return builder.reshape(scaled, [batch, 1, heads * valueSize]);
  });
  return [concatenate(context, outputs, 1), state];
};

/**
 * CausalConvWithState: a convolution over each channel's past state (or zeros) and input, then the bias and x *
 * sigmoid(x); the second output holds the last elements read.
 */
export const causalConvWithState: Lower = (context) => {
  const { builder, expressions: e } = context;
  const [x, w] = [context.floatInput(0), context.floatInput(1)];
  const [batch = 0, channels = 0, length = 0] = x.shape;
  const kernel = w.shape[2] ?? 0;
  if (x.shape.length !== 3 || w.shape.join() !== [channels, 1, kernel].join() || kernel < 1)
    return context.fail(`input [${x.shape.join()}], weights [${w.shape.join()}]`);
  const activation = context.string("activation", "none");
  if (!["none", "", "silu", "swish"].includes(activation)) return context.refuse("activation", `is ${activation}`);
  const before = [batch, channels, kernel - 1];
  const past = context.optional(3) ? context.floatInput(3) : builder.filled(x.dtype, before, 0n);
  if (past.shape.join() !== before.join()) return context.fail(`a past state [${past.shape.join()}]`);
  const all = concatenate(context, [past, x], 2);
  builder.realise(all);
  const attributes = new Map([["group", { kind: "int", value: BigInt(channels) } as const]]);
  const product = convolution(context.withAttributes(attributes), all, w);
  let result = addBias(context, product, 2);
  if (activation !== "none" && activation !== "") result = broadcast(context, [result], (v) => e.mul(v, e.sigmoid(v)));
  const state =
    kernel === 1 ? builder.filled(x.dtype, before, floatWord(0)) : slicedAlong(context, all, 2, length, kernel - 1);
  return [result, state];
};

/** CumProd: a chain of products along an axis, each rounded. */
export const cumProd: Lower = (context) => {
  const { builder, expressions: e } = context;
  const x = context.input(0);
  const axis = context.axis(context.constantInts(1, "axis")?.[0] ?? 0, x.shape.length);
  const [reverse, exclusive] = [context.int("reverse", 0) !== 0, context.int("exclusive", 0) !== 0];
  const length = x.shape[axis] ?? 1;
  if (length > MAX_TOKENS) return context.refuse("input 0", `has ${length} factors, at most ${MAX_TOKENS}`);
  builder.plain(x);
  const parts: LazyTensor[] = [];
  for (let i = 0; i < length; i++) {
    const at = (k: number): LazyTensor => slicedAlong(context, x, axis, reverse ? length - 1 - k : k, 1);
    const previous = parts.at(-1);
    const factor = exclusive ? i - 1 : i;
    const one = (): LazyTensor => broadcast(context, [at(i)], (v) => e.like(v, 1));
    const next =
      factor < 0 ? one() : previous === undefined ? at(0) : broadcast(context, [previous, at(factor)], e.mul);
    builder.realise(next);
    parts.push(next);
  }
  return [concatenate(context, reverse ? parts.reverse() : parts, axis)];
};
