import { DType } from "../../numerics/dtype.ts";
import type { Expr } from "../expressions/expression.ts";
import type { LazyTensor } from "../expressions/tensor.ts";
import { broadcast } from "../lowering/broadcast.ts";
import { concatenate } from "../lowering/concatenate.ts";
import { indexTensor } from "../lowering/indices.ts";
import type { NodeContext } from "../lowering/nodeContext.ts";
import { slicedAlong } from "../lowering/slices.ts";

const ROUNDS = 10;
const [FIRST_FACTOR, SECOND_FACTOR] = [0xd2511f53n, 0xcd9e8d57n];
const [FIRST_WEYL, SECOND_WEYL] = [0x9e3779b9n, 0xbb67ae85n];

/** The low half of an int64 as uint32. */
export const lowWord = (context: NodeContext, x: Expr): Expr => context.expressions.cast(x, DType.uint32);

/** The high half of an int64 as uint32. */
export const highWord = (context: NodeContext, x: Expr): Expr => {
  const e = context.expressions;
  return e.cast(e.shr(e.cast(x, DType.uint64), e.constant(DType.uint64, 32n)), DType.uint32);
};

/**
 * Philox 4x32-10 (`philox.ts`) within the program, with a key known when the program is executed.
 * @param key int64[1].
 * @param rest The counter's three words after the block number: uint32[1] each.
 * @returns uint32[count]
 */
export function drawnWords(
  context: NodeContext,
  key: LazyTensor,
  rest: readonly [LazyTensor, LazyTensor, LazyTensor],
  count: number,
): LazyTensor {
  const { builder, expressions: e } = context;
  const blocks = Math.ceil(count / 4);
  const word = (value: bigint): Expr => e.constant(DType.uint32, value & 0xffffffffn);
  const low = (x: Expr): Expr => lowWord(context, x);
  const high = (x: Expr): Expr => highWord(context, x);
  const product = (x: Expr, factor: bigint): Expr => e.mul(e.cast(x, DType.uint64), e.constant(DType.uint64, factor));
  let words = [broadcast(context, [indexTensor(e, [blocks], 0)], low), ...rest];
  for (let round = 0n; round < ROUNDS; round++) {
    const mixed = (by: number, factor: bigint, other: number, half: (x: Expr) => Expr, weyl: bigint) =>
      broadcast(
        context,
        [words[by]!, words[other]!, key],
        (x, y, s) => e.xor(e.xor(high(product(x, factor)), y), e.add(half(s), word(round * weyl))),
        true,
      );
    const first = mixed(2, SECOND_FACTOR, 1, low, FIRST_WEYL);
    const second = mixed(0, FIRST_FACTOR, 3, high, SECOND_WEYL);
    // The low halves stay expressions: each half goes into one word in the next round.
    const [firstLow, secondLow] = [
      broadcast(context, [words[2]!], (x) => low(product(x, SECOND_FACTOR))),
      broadcast(context, [words[0]!], (x) => low(product(x, FIRST_FACTOR))),
    ];
    builder.realise(first);
    builder.realise(second);
    words = [first, firstLow, second, secondLow];
  }
  const columns = words.map((each) => builder.reshape(each, [blocks, 1]));
  const all = builder.reshape(concatenate(context, columns, 1), [4 * blocks]);
  return slicedAlong(context, all, 0, 0, count);
}
