import { DType } from "../../../numerics/dtype.ts";
import type { Backward, Rule } from "../backward.ts";
import { part } from "./movement.ts";

/** A value with its shape. */
type Shaped = { name: string; shape: readonly number[] };

/** [batch, length, heads * size] as [batch, heads, length, size]. */
function splitHeads(b: Backward, { name, shape }: Shaped, heads: number): Shaped {
  const [batch, length, width] = shape as [number, number, number];
  const split = b.shaped(name, [batch, length, heads, width / heads]);
  return { name: b.transpose(split, [0, 2, 1, 3]), shape: [batch, heads, length, width / heads] };
}

const joinHeads = (b: Backward, x: string, [batch, heads, length, size]: readonly number[]): string =>
  b.shaped(b.transpose(x, [0, 2, 1, 3]), [batch!, length!, heads! * size!]);

/** Prepends the past values along the third dimension. */
function withPast(b: Backward, input: number, now: Shaped): Shaped {
  if (!b.has(input)) return now;
  const length = b.shape(input)[2]! + now.shape[2]!;
  const shape = now.shape.map((dim, d) => (d === 2 ? length : dim));
  return { name: b.opWith("Concat", { axis: 2 }, b.x(input), now.name), shape };
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** A number where query i sees no key j > i + past, else 0: [queries, keys]. */
function causal(b: Backward, queries: number, keys: number, past: number, hidden: number): string {
  const values = upTo(queries * keys).map((i) => (i % keys <= Math.floor(i / keys) + past ? 0 : hidden));
  return b.tensor(values, [queries, keys]);
}

/**
 * softmax(scores(q * k)) * v, [batch, heads, queries, size]; a k and v head may serve several q heads.
 * @param hides Whether a query with scores of -Infinity only has weights of 0.
 */
function attend(
  b: Backward,
  q: Shaped,
  k: Shaped,
  v: Shaped,
  scores: (products: string) => string,
  hides = false,
): string {
  const [batch, heads, queries, size] = q.shape as [number, number, number, number];
  const [own, keys, width] = [k.shape[1]!, k.shape[2]!, v.shape[3]!];
  const grouped = (x: string, last: number): string => b.shaped(x, [batch, own, heads / own, queries, last]);
  const turned = b.shaped(b.transpose(k.name, [0, 1, 3, 2]), [batch, own, 1, size, keys]);
  const products = b.shaped(b.op("MatMul", grouped(q.name, size), turned), [batch, heads, queries, keys]);
  const given = scores(products);
  const hidden = (): string =>
    b.op("Equal", b.opWith("ReduceMax", { keepdims: 1 }, given, b.integers(3)), b.f(-Infinity));
  const isHidden = hides ? hidden() : undefined;
  // Without NaN in the softmax, none comes into its gradient.
  const shown = (x: string): string => (isHidden === undefined ? x : b.where(isHidden, b.f(0), x));
  const weights = shown(b.opWith("Softmax", { axis: -1 }, shown(given)));
  const mixed = b.op("MatMul", grouped(weights, keys), b.shaped(v.name, [batch, own, 1, keys, width]));
  return b.shaped(mixed, [batch, heads, queries, width]);
}

/** Attention of ai.onnx. */
export const attention: Rule = (b) => {
  const headsOf = (input: number, attribute: string): Shaped => {
    const given = { name: b.x(input), shape: b.shape(input) };
    return given.shape.length === 4 ? given : splitHeads(b, given, b.attributes.int(attribute, 1));
  };
  const q = headsOf(0, "q_num_heads");
  const k = withPast(b, 4, headsOf(1, "kv_num_heads"));
  const v = withPast(b, 5, headsOf(2, "kv_num_heads"));
  const [batch, , queries, size] = q.shape as [number, number, number, number];
  const keys = k.shape[2]!;
  const scale = b.attributes.float("scale", 1 / Math.sqrt(size));
  const cap = b.attributes.float("softcap", 0);
  const hide = (seen: string): string => b.where(seen, b.f(0), b.f(-Infinity));
  const parts: string[] = [];
  if (b.has(3)) {
    const mask = b.dtype(3) === DType.bool ? hide(b.x(3)) : b.x(3);
    const missing = keys - (b.shape(3).at(-1) ?? keys);
    const isShort = b.opset >= 24 && missing > 0 && b.shape(3).at(-1)! > 1;
    const none = (): string => b.expand(b.f(-Infinity), [...b.shape(3).slice(0, -1), missing]);
    parts.push(isShort ? b.opWith("Concat", { axis: -1 }, mask, none()) : mask);
  }
  const isCausal = b.attributes.int("is_causal", 0) !== 0;
  const isAligned = b.has(6) && !b.has(4);
  if (isCausal && !isAligned) parts.push(causal(b, queries, keys, b.has(4) ? b.shape(4)[2]! : 0, -Infinity));
  if (b.has(6)) {
    const counts = b.opWith("Cast", { to: DType.int64 }, b.shaped(b.x(6), [batch, 1, 1, 1]));
    const rows = b.shaped(b.integers(...upTo(queries).map((i) => i + 1 - queries)), [queries, 1]);
    parts.push(hide(b.op("Less", b.integers(...upTo(keys)), isCausal && isAligned ? b.add(counts, rows) : counts)));
  }
  const scores = (products: string): string => {
    const scaled = b.mul(products, b.f(scale));
    const capped = cap === 0 ? scaled : b.mul(b.op("Tanh", b.div(scaled, b.f(cap))), b.f(cap));
    return parts.reduce((sum, each) => b.add(sum, each), capped);
  };
  const mixed = attend(b, q, k, v, scores, b.has(3) || b.has(6));
  const shape = [...q.shape.slice(0, 3), v.shape[3]!];
  return [
    b.shape(0).length === 4 ? mixed : joinHeads(b, mixed, shape),
    b.op("Identity", k.name),
    b.op("Identity", v.name),
  ];
};

/** The smallest finite float32: onnxruntime adds LOWEST to the score for a key that comes after the query. */
const LOWEST = -3.4028234663852886e38;

/** Scores of com.microsoft: scale * products + bias + mask of keys + causal mask. */
function maskedScores(b: Backward, q: Shaped, keys: number, inputs: { mask: number; bias: number; past: number }) {
  const [batch, , queries, size] = q.shape as [number, number, number, number];
  const scale = b.attributes.float("scale", 0) || 1 / Math.sqrt(size);
  const parts: string[] = [];
  if (b.has(inputs.bias)) parts.push(b.x(inputs.bias));
  if (b.has(inputs.mask)) {
    const shape = b.shape(inputs.mask);
    const mask = b.x(inputs.mask);
    const filter = b.f(b.attributes.float("mask_filter_value", -10000));
    const position = b.tensor(upTo(keys), [keys], DType.int32);
    const bound = (start: number): string => b.shaped(part(b, mask, 0, start, start + batch), [batch, 1, 1, 1]);
    let seen: string;
    if (shape.length > 1) {
      const whole = [batch, 1, ...(shape.length === 2 ? [1] : []), ...shape.slice(1)];
      seen = b.op("Greater", b.shaped(mask, whole), b.f(0, DType.int32));
    } else {
      seen = b.op("Less", position, bound(0));
      if (shape[0] !== batch) seen = b.op("And", seen, b.op("GreaterOrEqual", position, bound(batch)));
    }
    parts.push(b.where(seen, b.f(0), filter));
  }
  if (b.attributes.int("unidirectional", 0) !== 0) parts.push(causal(b, queries, keys, inputs.past, LOWEST));
  return (products: string): string => parts.reduce((sum, each) => b.add(sum, each), b.mul(products, b.f(scale)));
}

/** Attention of com.microsoft: x * W + bias are query, key and value. */
export const microsoftAttention: Rule = (b) => {
  const heads = b.attributes.int("num_heads", 1);
  const [batch, length] = b.shape(0) as [number, number];
  const width = b.shape(1)[1]!;
  const sizes = b.attributes.ints("qkv_hidden_sizes") ?? [width / 3, width / 3, width / 3];
  if (b.has(4)) return b.refuse("has no gradient rule with a past");
  const product = b.op("MatMul", b.x(0), b.x(1));
  const sum = b.has(2) ? b.add(product, b.x(2)) : product;
  const starts = sizes.map((_, k) => sizes.slice(0, k).reduce((total, size) => total + size, 0));
  const [q, k, v] = sizes.map((size, n) =>
    splitHeads(b, { name: part(b, sum, 2, starts[n]!, starts[n]! + size), shape: [batch, length, size] }, heads),
  ) as [Shaped, Shaped, Shaped];
  const mixed = attend(b, q, k, v, maskedScores(b, q, length, { mask: 3, bias: 5, past: 0 }));
  return [joinHeads(b, mixed, [...q.shape.slice(0, 3), v.shape[3]!])];
};

/** MultiHeadAttention of com.microsoft, with separate query, key and value. */
export const multiHeadAttention: Rule = (b) => {
  const heads = b.attributes.int("num_heads", 1);
  if (!b.has(1) || !b.has(2)) return b.refuse("has a gradient rule only of query, key and value apart");
  let start = 0;
  const [q, k, v] = [0, 1, 2].map((input) => {
    const shape = b.shape(input);
    if (shape.length === 4) return { name: b.x(input), shape };
    const width = shape[2]!;
    const name = b.has(3) ? b.add(b.x(input), part(b, b.x(3), 0, start, start + width)) : b.x(input);
    start += width;
    return splitHeads(b, { name, shape }, heads);
  }) as [Shaped, Shaped, Shaped];
  const [keys, values] = [withPast(b, 6, k), withPast(b, 7, v)];
  const past = keys.shape[2]! - q.shape[2]!;
  const scores = maskedScores(b, q, keys.shape[2]!, { mask: 4, bias: 5, past });
  const mixed = attend(b, q, keys, values, scores);
  return [
    joinHeads(b, mixed, [...q.shape.slice(0, 3), values.shape[3]!]),
    b.op("Identity", keys.name),
    b.op("Identity", values.name),
  ];
};

/** Pairs (p, q) of the last dimension become (cos * p - sin * q, sin * p + cos * q); what is beyond them stays. */
function rotate(b: Backward, x: string, shape: readonly number[], cos: string, sin: string, half: number): string {
  const size = shape[3]!;
  const interleaved = b.attributes.int("interleaved", 0) !== 0;
  const turned = part(b, x, 3, 0, 2 * half);
  const pairs = interleaved ? [...shape.slice(0, 3), half, 2] : [...shape.slice(0, 3), 2, half];
  const axis = interleaved ? 4 : 3;
  const apart = b.shaped(turned, pairs);
  const one = (k: number): string => b.shaped(part(b, apart, axis, k, k + 1), [...shape.slice(0, 3), half]);
  const [p, q] = [one(0), one(1)];
  const results = [b.sub(b.mul(cos, p), b.mul(sin, q)), b.add(b.mul(sin, p), b.mul(cos, q))];
  const stacked = results.map((part) => b.op("Unsqueeze", part, b.integers(axis)));
  const joined = b.shaped(b.opWith("Concat", { axis }, ...stacked), [...shape.slice(0, 3), 2 * half]);
  return 2 * half < size ? b.opWith("Concat", { axis: 3 }, joined, part(b, x, 3, 2 * half, size)) : joined;
}

/** RotaryEmbedding of ai.onnx. */
export const rotaryEmbedding: Rule = (b) => {
  const shape = b.shape();
  const flat = shape.length === 3;
  const heads = b.attributes.int("num_heads", 0);
  const [batch, length] = [shape[0]!, flat ? shape[1]! : shape[2]!];
  const own = flat ? [batch, length, heads, shape[2]! / heads] : shape;
  const half = b.shape(1).at(-1)!;
  const angle = (input: number): string => {
    const rows = b.has(3) ? b.opWith("Gather", { axis: 0 }, b.x(input), b.x(3)) : b.x(input);
    return b.shaped(rows, flat ? [batch, length, 1, half] : [batch, 1, length, half]);
  };
  return [b.shaped(rotate(b, b.shaped(b.x(), own), own, angle(1), angle(2), half), shape)];
};

/** RotaryEmbedding of com.microsoft: all tokens' positions, or only the first token's position. */
export const microsoftRotaryEmbedding: Rule = (b) => {
  const shape = b.shape();
  const half = b.shape(2).at(-1)!;
  const heads = b.attributes.int("num_heads", 0) || shape.at(-1)! / (2 * half);
  const x = shape.length === 3 ? splitHeads(b, { name: b.x(), shape }, heads) : { name: b.x(), shape };
  const [batch, , length] = x.shape as [number, number, number];
  const steps = b.integers(...upTo(length));
  const positions = b.shape(1).length < 2 ? b.expand(b.add(b.shaped(b.x(1), [1]), steps), [batch, length]) : b.x(1);
  const angle = (input: number): string =>
    b.shaped(b.opWith("Gather", { axis: 0 }, b.x(input), positions), [batch, 1, length, half]);
  const rotated = rotate(b, x.name, x.shape, angle(2), angle(3), half);
  return [shape.length === 3 ? joinHeads(b, rotated, x.shape) : rotated];
};
