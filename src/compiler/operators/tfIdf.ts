import { DType } from "../../numerics/dtype.ts";
import { floatTensor, int64Tensor } from "../../model/onnx/tensorData.ts";
import { Reduce } from "../../program/types.ts";
import type { Expr } from "../expressions/expression.ts";
import type { LazyTensor } from "../expressions/tensor.ts";
import { addTensors, broadcast } from "../lowering/broadcast.ts";
import { concatenate } from "../lowering/concatenate.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";
import { slicedAlong } from "../lowering/slices.ts";
import { gatherAlong } from "./gather.ts";
import { dropAxes, reduceAxes } from "./reduction.ts";

/** One step compares all items in a sequence, and reads from an equal number of places. */
const MAX_GRAM = 5;

/** The searched sequences with `length` numbers, and the number of the first sequence in the pool. */
type Level = { length: number; first: number; grams: readonly (readonly bigint[])[] };

function levelsOf(context: NodeContext): Level[] {
  if (context.strings("pool_strings") !== undefined)
    context.refuse("pool_strings", "is of texts: give each word a number before the model, and pool_int64s");
  const pool = context.integers("pool_int64s") ?? context.fail("pool_int64s is missing");
  const starts = context.ints("ngram_counts") ?? context.fail("ngram_counts is missing");
  let first = 0;
  return starts.map((start, k) => {
    const length = k + 1;
    const size = ((starts[k + 1] ?? pool.length) - start) / length;
    if (!(Number.isInteger(size) && size >= 0 && start >= 0))
      context.fail(`ngram_counts [${starts.join()}] do not cut the pool`);
    const grams = Array.from({ length: size }, (_, g) => pool.slice(start + g * length, start + (g + 1) * length));
    if (new Set(grams.map((gram) => gram.join())).size < size) context.fail("the pool has a sequence twice");
    first += size;
    return { length, first: first - size, grams };
  });
}

/**
 * Counts each sequence from a level in each row, with items `apart` places from one another: int64[rows, grams].
 * @param x [rows, columns]
 */
function counted(context: NodeContext, x: LazyTensor, { length, grams }: Level, apart: number): LazyTensor | undefined {
  const { builder, expressions: e } = context;
  const [rows, columns] = x.shape as [number, number];
  const places = columns - (length - 1) * apart;
  if (places <= 0) return undefined;
  const items = Array.from({ length }, (_, k) =>
    builder.reshape(slicedAlong(context, x, 1, k * apart, places), [rows, 1, places]),
  );
  const wanted = Array.from({ length }, (_, k) => {
    const numbers = grams.map((gram) => gram[k]!);
    return builder.constant(int64Tensor(numbers, [1, grams.length, 1]));
  });
  const match = broadcast(context, [...items, ...wanted], (...all: Expr[]) => {
    const same = Array.from({ length }, (_, k) => e.eq(all[k]!, all[length + k]!));
    return e.cast(
      same.reduce((both, one) => e.and(both, one)),
      DType.int64,
    );
  });
  const sum = dropAxes(builder, reduceAxes(builder, match, [2], Reduce.sum), [2]);
  builder.realise(sum);
  return sum;
}

/** TfIdfVectorizer for numbers: counts the pool's sequences in a row, with items skipped between a sequence's items. */
export const tfIdf: Lower = (context) => {
  const { builder, expressions: e } = context;
  const given = context.input(0);
  if (given.dtype !== DType.int32 && given.dtype !== DType.int64)
    return context.refuse("input 0", "is neither int32 nor int64");
  if (given.shape.length < 1 || given.shape.length > 2) return context.fail(`[${given.shape.join()}] has no rows`);
  const columns = given.shape.at(-1)!;
  const rows = given.shape.length === 2 ? given.shape[0]! : 1;
  const [min, max] = [context.int("min_gram_length", 1), context.int("max_gram_length", 1)];
  const skips = context.int("max_skip_count", 0);
  if (min < 1 || max < min || skips < 0 || skips > columns)
    return context.fail(`sequences of ${min} to ${max} with up to ${skips} skipped in rows of ${columns}`);
  if (max > MAX_GRAM) return context.refuse("max_gram_length", `is ${max}, at most ${MAX_GRAM} are compared`);
  const levels = levelsOf(context);
  const indexes = context.ints("ngram_indexes") ?? context.fail("ngram_indexes is missing");
  if (indexes.length !== levels.reduce((sum, { grams }) => sum + grams.length, 0))
    return context.fail(`${indexes.length} ngram_indexes for the sequences of the pool`);
  const x = builder.reshape(
    broadcast(context, [given], (value) => e.cast(value, DType.int64)),
    [rows, columns],
  );
  builder.realise(x);
  const counts = levels.map((level) => {
    const { length, grams } = level;
    const none = builder.filled(DType.int64, [rows, grams.length], 0n);
    if (grams.length === 0 || length < min || length > max) return none;
    const distances = Array.from({ length: length === 1 ? 1 : skips + 1 }, (_, s) => s + 1);
    const found = distances.flatMap((apart) => counted(context, x, level, apart) ?? []);
    return found.length === 0 ? none : found.reduce((a, b) => addTensors(context, a, b));
  });
  const zero = builder.filled(DType.int64, [rows, 1], 0n);
  const all = concatenate(context, [...counts, zero], 1);
  builder.realise(all);
  const width = Math.max(...indexes) + 1;
  const from = context.tabulate(width, (column) => indexes.indexOf(column));
  const places = from.map((gram) => (gram < 0 ? indexes.length : gram));
  const chosen = gatherAlong(context, all, builder.constant(int64Tensor(places)), 1);
  const result = weighted(context, chosen, indexes);
  return [given.shape.length === 2 ? result : builder.reshape(result, [width])];
};

/** TF: the counts; IDF: the weights of what is there; TFIDF: counts times weights. */
function weighted(context: NodeContext, counts: LazyTensor, indexes: readonly number[]): LazyTensor {
  const e = context.expressions;
  const mode = context.string("mode", "");
  if (mode !== "TF" && mode !== "IDF" && mode !== "TFIDF") return context.refuse("mode", `is ${mode}`);
  const weights = context.floats("weights");
  const float = (count: Expr): Expr => e.cast(count, DType.float32);
  const there = (count: Expr): Expr => e.cast(e.lt(e.int64(0), count), DType.float32);
  if (mode === "TF" || weights === undefined) return broadcast(context, [counts], mode === "IDF" ? there : float);
  if (weights.length !== indexes.length || indexes.some((column, gram) => column !== gram))
    return context.refuse("weights", "are not in the order of the columns of the result");
  const row = context.builder.constant(floatTensor([...weights], [1, weights.length]));
  return broadcast(
    context,
    [counts, row],
    (count, weight) => e.mul((mode === "IDF" ? there : float)(count), weight),
    true,
  );
}
