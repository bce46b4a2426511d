import { Reduce } from "../program/types.ts";
import type { TensorArray } from "./arrays.ts";

type Element = number | bigint;

/**
 * Folds vectors of `inner` contiguous terms (docs/program.md, "Reduce"): all reductions but sum and dot.
 * @param a First results of the terms; for `last`, whether a term matches.
 * @param b Second results, for `last`.
 * @param outs The accumulators, from element `start`.
 */
export function reduceVectors(
  reduce: Reduce,
  inner: number,
  a: TensorArray,
  b: TensorArray | undefined,
  outs: readonly TensorArray[],
  start: number,
): void {
  const rows = a.length / inner;
  for (let row = 0; row < rows; row++) {
    const from = row * inner;
    const at = start + row;
    if (reduce === Reduce.max || reduce === Reduce.min) {
      outs[0]![at] = extremum(a, from, inner, reduce === Reduce.max);
    } else if (reduce === Reduce.last) {
      const match = lastMatch(a, from, inner);
      if (match === -1) continue;
      outs[0]![at] = b![from + match]!;
      outs[1]![at] = 1;
    } else {
      outs[0]![at] = BigInt(position(reduce, a, from, inner));
    }
  }
}

/** NaN wins: it is unequal to itself, and then nothing beats it. */
function extremum(terms: TensorArray, from: number, inner: number, greatest: boolean): Element {
  let best: Element = terms[from]!;
  for (let k = 1; k < inner && best === best; k++) {
    const term = terms[from + k]!;
    if (term !== term || (greatest ? term > best : term < best)) best = term;
  }
  return best;
}

function lastMatch(conditions: TensorArray, from: number, inner: number): number {
  let r = inner - 1;
  while (r >= 0 && conditions[from + r] === 0) r--;
  return r;
}

/** NaN is greatest in argmax and least in argmin: a first NaN ends the search for the lowest index, a last one is the highest. */
function position(reduce: Reduce, terms: TensorArray, from: number, inner: number): number {
  const greatest = reduce === Reduce.argmax || reduce === Reduce.argmaxLast;
  const highestIndex = reduce === Reduce.argmaxLast || reduce === Reduce.argminLast;
  let best: Element = terms[from]!;
  let at = 0;
  for (let k = 1; k < inner; k++) {
    const term = terms[from + k]!;
    const bothNaN = best !== best && term !== term;
    const beats = term !== term ? best === best : greatest ? term > best : term < best;
    if (beats || (highestIndex && (bothNaN || term === best))) [best, at] = [term, k];
  }
  return at;
}
