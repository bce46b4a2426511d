import type { Expressions } from "../expressions/expression.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";
import type { LazyTensor } from "../expressions/tensor.ts";
import { broadcast } from "../lowering/broadcast.ts";
import { rowsOf } from "./gather.ts";
import { concatenate } from "../lowering/concatenate.ts";
import { sliced, wholeRange } from "../lowering/slices.ts";

/**
 * Pairs (a, b) of the first elements of the last of four dimensions become (cos * a - sin * b, sin * a + cos * b). Each
 * product and sum is rounded; the other elements stay.
 * @param cos Like `sin` it broadcasts to x; its last dimension is the number of pairs.
 */
export function rotate(
  context: NodeContext,
  x: LazyTensor,
  cos: LazyTensor,
  sin: LazyTensor,
  interleaved: boolean,
): LazyTensor {
  const { builder, expressions: e } = context;
  const size = x.shape[3]!;
  const half = cos.shape.at(-1)!;
  if (2 * half > size) return context.fail(`${2 * half} rotated elements of ${size}`);
  builder.realise(x);
  const part = (start: number, step: number, count: number): LazyTensor =>
    sliced(
      context,
      x,
      x.shape.map((dim, d) => (d === 3 ? { start, step, count } : wholeRange(dim))),
    );
  const a = interleaved ? part(0, 2, half) : part(0, 1, half);
  const b = interleaved ? part(1, 2, half) : part(half, 1, half);
  const mix = (join: Expressions["add"], left: LazyTensor, right: LazyTensor): LazyTensor =>
    broadcast(context, [left, a, right, b], (l, p, r, q) => join(e.mul(l, p), e.mul(r, q)));
  const [real, imaginary] = [mix(e.sub, cos, sin), mix(e.add, sin, cos)];
  let rotated: LazyTensor;
  if (interleaved) {
    const [p, q] = [real, imaginary].map((tensor) => builder.reshape(tensor, [...tensor.shape, 1]));
    rotated = builder.reshape(concatenate(context, [p!, q!], 4), [...real.shape.slice(0, 3), 2 * half]);
  } else {
    rotated = concatenate(context, [real, imaginary], 3);
  }
  return 2 * half < size ? concatenate(context, [rotated, part(2 * half, 1, size - 2 * half)], 3) : rotated;
}

/** RotaryEmbedding of ai.onnx: the cache rows belong to the tokens, or are chosen by the tokens' positions. */
export const rotaryEmbedding: Lower = (context) => {
  const { builder } = context;
  const input = context.floatInput();
  const heads = context.int("num_heads", 0);
  const [first = 1, second = 1, third = 1, fourth = 1] = input.shape;
  const flat = input.shape.length === 3;
  if (!flat && input.shape.length !== 4) return context.fail(`data of rank ${input.shape.length}`);
  if (flat && (heads < 1 || third % heads !== 0)) return context.fail(`${heads} heads of a width of ${third}`);
  const x = flat ? builder.reshape(input, [first, second, heads, third / heads]) : input;
  const length = flat ? second : third;
  const size = flat ? third / heads : fourth;
  const half = (context.int("rotary_embedding_dim", 0) || size) / 2;
  if (!Number.isInteger(half) || 2 * half > size) return context.fail(`${2 * half} rotated elements of ${size}`);

  const positions = context.optional(3);
  const angle = (index: number): LazyTensor => {
    const cache = context.floatInput(index);
    const given = positions ? [cache.shape[0]!, half] : [first, length, half];
    if (cache.shape.join() !== given.join() || (positions && positions.shape.join() !== [first, length].join()))
      return context.fail(`input ${index} of shape [${cache.shape.join()}], expected [${given.join()}]`);
    const rows = positions ? rowsOf(context, cache, positions) : cache;
    return builder.reshape(rows, flat ? [first, length, 1, half] : [first, 1, length, half]);
  };
  const rotated = rotate(context, x, angle(1), angle(2), context.int("interleaved", 0) !== 0);
  return [flat ? builder.reshape(rotated, input.shape) : rotated];
};
