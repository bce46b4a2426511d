import { Op } from "../../program/operations.ts";
import type { Expression } from "./slots.ts";
import { neededSlots } from "./slots.ts";
import type { LoopDigit } from "./spec.ts";

/** A digit, and by how many elements it moves the place of a result. */
export type StoredDigit = LoopDigit & { outStride: number };

/**
 * Digits of which some are merged: which of them has taken in the ranged one, and how many of its values one of the
 * ranged digit has become.
 */
export type MergedLoops = { digits: readonly StoredDigit[]; ranged: number; scale: number };

const ONCE = { digit: -1, radix: 1, outStride: 0 };

/**
 * Merges neighbouring digits that all reads take as one: the inner one's name stays, with the product of the radices.
 * The outer one's terms are then to be left out. Digits of radix 1 go; at least one is left.
 * @param ranged The place in `digits` of the one of which not all values are looped over: it is the outer one where it
 * is merged.
 */
export function mergeLoops(
  expression: Expression,
  digits: readonly StoredDigit[],
  outs: readonly number[],
  ranged = 0,
): MergedLoops {
  const needed = neededSlots(expression, outs);
  const axes = expression.reads.filter((_, slot) => needed.has(slot)).flatMap((view) => view.axes);
  const numbered = new Set(
    expression.code
      .filter(({ op }, n) => op === Op.digit && needed.has(expression.reads.length + expression.constants.length + n))
      .map(({ a }) => a),
  );
  const coeffOf = (axis: (typeof axes)[number], digit: number): number =>
    axis.coeffs.find((term) => term.digit === digit)?.coeff ?? 0;
  const areOne = (outer: StoredDigit, inner: StoredDigit): boolean =>
    outer.radix === 1 ||
    (!numbered.has(outer.digit) &&
      !numbered.has(inner.digit) &&
      outer.outStride === inner.outStride * inner.radix &&
      axes.every((axis) => coeffOf(axis, outer.digit) === coeffOf(axis, inner.digit) * inner.radix));

  const merged: StoredDigit[] = [];
  let at = 0;
  let scale = 1;
  digits.forEach((next, k) => {
    const outer = merged.at(-1);
    const isRanged = k === ranged;
    if (next.radix === 1 && outer !== undefined && !isRanged) return;
    if (outer !== undefined && (isRanged ? outer.radix === 1 : areOne(outer, next))) {
      if (k > ranged && at === merged.length - 1) scale *= next.radix;
      merged[merged.length - 1] = { ...next, radix: outer.radix * next.radix };
    } else {
      merged.push(next);
    }
    if (isRanged) at = merged.length - 1;
  });
  return { digits: merged.length === 0 ? [ONCE] : merged, ranged: at, scale };
}
