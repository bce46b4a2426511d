import { DType, isFloat, type DType as DTypeCode } from "../numerics/dtype.ts";
import { isDot, startReduction } from "../program/reduction.ts";
import { Reduce, type Step } from "../program/types.ts";
import { CircuitRefusalError } from "./errors.ts";
import { sumOf, type Fixed } from "./fixed.ts";
import type { Operations } from "./operations.ts";
import { numberOf, type Value } from "./values.ts";

/** The results of a term. */
export type Term = { a: Value; b: Value };

const word = (value: bigint): Value => ({ word: value });

/** Folds a step's terms as `startReduction` does. @throws CircuitRefusalError */
export function reduceTerms(operations: Operations, step: Step, terms: readonly Term[]): Value[] {
  const { reduce } = step;
  const dtype = step.reduceType!;
  if (terms.every(({ a, b }) => "word" in a && "word" in b)) return known(step, terms);
  switch (reduce) {
    case Reduce.sum:
    case Reduce.dot:
      return [operations.settle(sumOf(terms.map((term) => addend(operations, reduce, dtype, term))), dtype)];
    case Reduce.max:
    case Reduce.min:
      return [
        terms.slice(1).reduce((best, { a }) => operations.extremum(best, a, dtype, reduce === Reduce.max), terms[0]!.a),
      ];
    case Reduce.argmax:
    case Reduce.argmin:
    case Reduce.argmaxLast:
    case Reduce.argminLast:
      return [position(operations, reduce, dtype, terms)];
    case Reduce.last:
      return lastMatch(operations, dtype, terms);
    default:
      throw new CircuitRefusalError("a sum in parts: the model's longest sums have no circuit yet");
  }
}

function known(step: Step, terms: readonly Term[]): Value[] {
  const reduction = startReduction(step, 0);
  terms.forEach(({ a, b }, r) => reduction.add(wordOf(a), wordOf(b), r));
  return reduction.result().map(word);
}

const wordOf = (value: Value): bigint => ("word" in value ? value.word : 0n);

const addend = (operations: Operations, reduce: Reduce, dtype: DTypeCode, { a, b }: Term): Fixed =>
  isDot(reduce) ? operations.product(a, b, dtype) : numberOf(a, dtype);

function position(operations: Operations, reduce: Reduce, dtype: DTypeCode, terms: readonly Term[]): Value {
  const greatest = reduce === Reduce.argmax || reduce === Reduce.argmaxLast;
  const first = reduce === Reduce.argmax || reduce === Reduce.argmin;
  let [best, at] = [terms[0]!.a, word(0n)];
  terms.slice(1).forEach(({ a }, k) => {
    const [low, high] = greatest ? [best, a] : [a, best];
    const isNew = first
      ? operations.isLess(low, high, dtype)
      : operations.select(operations.isLess(high, low, dtype), word(0n), word(1n), DType.bool);
    best = operations.select(isNew, a, best, dtype);
    at = operations.select(isNew, word(BigInt(k + 1)), at, DType.int64);
  });
  return at;
}

function lastMatch(operations: Operations, dtype: DTypeCode, terms: readonly Term[]): Value[] {
  let [value, found] = [word(0n), word(0n)];
  for (const { a, b } of terms) {
    value = operations.select(a, b, value, isFloat(dtype) ? DType.float32 : dtype);
    found = operations.select(a, word(1n), found, DType.bool);
  }
  return [value, found];
}
