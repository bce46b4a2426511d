import { DType } from "../../../numerics/dtype.ts";
import { elementCount } from "../../../model/onnx/model.ts";
import { broadcast } from "../../lowering/broadcast.ts";
import type { Lower } from "../../lowering/nodeContext.ts";
import type { LazyTensor } from "../../expressions/tensor.ts";
import { drawnWords, highWord, lowWord } from "../drawnWords.ts";

/** Part of the counter: these words differ from all words that a random operator in ai.onnx draws (`random.ts`). */
const STREAM = 2n;

/**
 * RandomWords(seed, index, like): Philox 4x32-10 (`philox.ts`) with inputs seed and index, both int64 with one element.
 * The key is the seed; the counter holds the block, the two halves of the index, and 2. Gives uint32[elements of like].
 */
export const randomWords: Lower = (context) => {
  const { builder } = context;
  const one = (input: number): LazyTensor => {
    const x = context.input(input);
    if (x.dtype !== DType.int64 || elementCount(x.shape) !== 1) return context.fail(`input ${input} is not one int64`);
    return builder.reshape(x, [1]);
  };
  const [seed, index] = [one(0), one(1)];
  const count = elementCount(context.input(2).shape);
  return [
    drawnWords(
      context,
      seed,
      [
        broadcast(context, [index], (x) => lowWord(context, x)),
        broadcast(context, [index], (x) => highWord(context, x)),
        builder.filled(DType.uint32, [1], STREAM),
      ],
      count,
    ),
  ];
};
