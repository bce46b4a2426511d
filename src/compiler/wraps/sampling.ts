import { DType } from "../../numerics/dtype.ts";
import { floatTensor } from "../../model/onnx/tensorData.ts";
import type { NodeList } from "../nodes.ts";

/** Names of the run inputs for drawing the next token. */
type SamplingInputs = { temperature: string; topK: string; topP: string; seed: string; index: string };

/** Bits of a key: logits that are further below the largest than 2^8 are not told apart. */
const KEY_BITS = 28;

/** A key counts steps of 2^-20 of the logits after the division by the temperature. */
const STEPS = 2 ** 20;

/** The largest float32 below 2^28: the distance that all larger ones are taken for. */
const FURTHEST = 2 ** KEY_BITS - 16;

/**
 * Writes nodes that choose a token from logits, float32[vocabulary].
 *
 * With a temperature of 0 or less: the first of the largest logits. Else, with z = (logit - largest) / temperature:
 * among the tokens left by top-k and top-p, the token with the largest z + g, g = -log(-log(1 - u)), u uniform from
 * Philox by seed and index. Top-k and top-p compare keys: -z in steps of 2^-20. Tokens with equal keys stay or go
 * together. Each threshold is found bit by bit, in work linear in the vocabulary.
 * @returns the name of the token, int64[1]
 */
export function sampledToken(n: NodeList, logits: string, inputs: SamplingInputs): string {
  const largest = n.node("ReduceMax", [logits, n.integers(0)], { keepdims: 1 });
  const z = n.node("Div", [n.node("Sub", [logits, largest]), inputs.temperature]);
  const keys = keysOf(n, z);
  const byCount = topK(n, keys, logits, inputs.topK);
  const min = topP(n, { keys, z, byCount }, inputs.topP);
  const scores = n.node("Add", [z, gumbel(n, logits, inputs)]);
  const kept = n.node("LessOrEqual", [min, keys]);
  const choices = n.node("Where", [kept, scores, n.constant(floatTensor([-Infinity]))]);
  const sampled = n.node("ArgMax", [choices], { axis: 0, keepdims: 1 });
  const isGreedy = n.node("LessOrEqual", [inputs.temperature, n.constant(floatTensor([0]))]);
  return n.node("Where", [isGreedy, greedyToken(n, logits), sampled]);
}

/**
 * Writes nodes choosing the first of the largest logits, float32[vocabulary].
 * @returns the name of the token, int64[1]
 */
export const greedyToken = (n: NodeList, logits: string): string =>
  n.node("ArgMax", [logits], { axis: 0, keepdims: 1 });

/** Keys of 28 bits, int32[vocabulary]: the larger the more probable. */
function keysOf(n: NodeList, z: string): string {
  const distance = n.node("Mul", [z, n.constant(floatTensor([-STEPS]))]);
  const bounded = n.node("Min", [distance, n.constant(floatTensor([FURTHEST]))]);
  const whole = n.node("Cast", [bounded], { to: DType.int32 });
  return n.node("Sub", [int32(n, 2 ** KEY_BITS - 1), whole]);
}

const int32 = (n: NodeList, value: number): string =>
  n.constant({ dtype: DType.int32, shape: [1], bytes: new Uint8Array(Int32Array.of(value).buffer) });

/**
 * Finds the largest threshold, int32[1], at which the keys from the threshold on reach the wanted amount: bit by bit,
 * from the highest bit.
 */
function threshold(n: NodeList, keys: string, wanted: string, weights?: string): string {
  let low = int32(n, 0);
  for (let bit = KEY_BITS - 1; bit >= 0; bit--) {
    const inputs = [keys, low, wanted, ...(weights === undefined ? [] : [weights])];
    low = n.own("RaiseThreshold", inputs, { step: 2 ** bit });
  }
  return low;
}

/** The key of the k-th most probable token; 0 if k is 0 or less, or the vocabulary has no more. */
function topK(n: NodeList, keys: string, logits: string, k: string): string {
  const size = n.node("Shape", [logits]);
  const isOff = n.node("LessOrEqual", [k, n.integers(0)]);
  return threshold(n, keys, n.node("Min", [n.node("Where", [isOff, size, k]), size]));
}

/**
 * Finds the least key of the most probable tokens with a joint share p of top-k's tokens; at least top-k's key. With p
 * of 1 or more: top-k's key.
 */
function topP(n: NodeList, { keys, z, byCount }: { keys: string; z: string; byCount: string }, p: string): string {
  const isLeft = n.node("LessOrEqual", [byCount, keys]);
  const weights = n.node("Where", [isLeft, n.node("Exp", [z]), n.constant(floatTensor([0]))]);
  const total = n.node("ReduceSum", [weights, n.integers(0)], { keepdims: 1 });
  const byWeight = threshold(n, keys, n.node("Mul", [total, p]), weights);
  const isOff = n.node("LessOrEqual", [n.constant(floatTensor([1])), p]);
  return n.node("Where", [isOff, byCount, n.node("Max", [byCount, byWeight])]);
}

/** Numbers g = -log(-log(1 - u)), float32[vocabulary]; u = (word + 1/2) / 2^32, at most 1 - 2^-24. */
function gumbel(n: NodeList, logits: string, { seed, index }: SamplingInputs): string {
  const f = (value: number): string => n.constant(floatTensor([value]));
  const words = n.node("Cast", [n.own("RandomWords", [seed, index, logits])], { to: DType.float32 });
  const all = n.node("Mul", [n.node("Add", [words, f(0.5)]), f(2 ** -32)]);
  const u = n.node("Min", [all, f(1 - 2 ** -24)]);
  // -log(1 - u) = 2 artanh(u / (2 - u)), which has all bits of a small u.
  const half = n.node("Atanh", [n.node("Div", [u, n.node("Sub", [f(2), u])])]);
  return n.node("Neg", [n.node("Log", [n.node("Mul", [half, f(2)])])]);
}
