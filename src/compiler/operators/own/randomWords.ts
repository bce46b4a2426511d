import { DType } from "../../../numerics/dtype.ts";
import { elementCount } from "../../../onnx/model.ts";
import { broadcast } from "../../lowering/broadcast.ts";
import { concatenate } from "../../lowering/concatenate.ts";
import { indexTensor } from "../../lowering/indices.ts";
import type { Lower } from "../../lowering/nodeContext.ts";
import { slicedAlong } from "../../lowering/slices.ts";
import type { Expr } from "../../expressions/expression.ts";
import type { LazyTensor } from "../../expressions/tensor.ts";

/** Of the counter, so that these words are none that a random operator of ai.onnx draws (`random.ts`). */
const STREAM = 2n;
const ROUNDS = 10;
const [FIRST_FACTOR, SECOND_FACTOR] = [0xd2511f53n, 0xcd9e8d57n];
const [FIRST_WEYL, SECOND_WEYL] = [0x9e3779b9n, 0xbb67ae85n];

/**
 * RandomWords(seed, index, like): Philox 4x32-10 (`philox.ts`) where seed and index are inputs, int64 of one element.
 * The key is the seed; the counter is the block, the two halves of the index, and 2. Gives uint32[elements of like].
 */
export const randomWords: Lower = (context) => {
  const { builder, expressions: e } = context;
  const one = (input: number): LazyTensor => {
    const x = context.input(input);
    if (x.dtype !== DType.int64 || elementCount(x.shape) !== 1) return context.fail(`input ${input} is not one int64`);
    return builder.reshape(x, [1]);
  };
  const [seed, index] = [one(0), one(1)];
  const count = elementCount(context.input(2).shape);
  const blocks = Math.ceil(count / 4);
  const word = (value: bigint): Expr => e.constant(DType.uint32, value & 0xffffffffn);
  const low = (x: Expr): Expr => e.cast(x, DType.uint32);
  const high = (x: Expr): Expr => low(e.shr(e.cast(x, DType.uint64), e.constant(DType.uint64, 32n)));
  const product = (x: Expr, factor: bigint): Expr => e.mul(e.cast(x, DType.uint64), e.constant(DType.uint64, factor));
  let words = [
    broadcast(context, [indexTensor(e, [blocks], 0)], low),
    broadcast(context, [index], low),
    broadcast(context, [index], high),
    builder.filled(DType.uint32, [1], STREAM),
  ];
  for (let round = 0n; round < ROUNDS; round++) {
    const mixed = (by: number, factor: bigint, other: number, key: (x: Expr) => Expr, weyl: bigint) =>
      broadcast(
        context,
        [words[by]!, words[other]!, seed],
        (x, y, s) => e.xor(e.xor(high(product(x, factor)), y), e.add(key(s), word(round * weyl))),
        true,
      );
    const first = mixed(2, SECOND_FACTOR, 1, low, FIRST_WEYL);
    const second = mixed(0, FIRST_FACTOR, 3, high, SECOND_WEYL);
    // The low halves stay expressions: each goes into one word of the next round.
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
  return [slicedAlong(context, all, 0, 0, count)];
};
