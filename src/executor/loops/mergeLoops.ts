import { Op } from "../../program/operations.ts";
import type { Expression } from "./slots.ts";
import { neededSlots } from "./slots.ts";
import type { LoopDigit } from "./spec.ts";

/** A digit, and how many elements the digit moves a result's place. */
export type StoredDigit = LoopDigit & { outStride: number };

/**
 * The digits after merging, the index of the digit containing the ranged digit, and the number of merged values for
 * each value of the ranged digit.
 */
type MergedLoops = { digits: readonly StoredDigit[]; ranged: number; scale: number };

const ONCE = { digit: -1, radix: 1, outStride: 0 };

/**
 * Merges the loops of neighbouring digits where all reads allow a single digit. The merged digit has the inner digit's
 * number and the product of the radices; the caller leaves out the outer digit's terms. Digits of radix 1 are dropped;
 * at least one digit is left.
 * @param ranged The index in `digits` of the ranged digit: a call runs only some of its values. Merging accepts the
 *   ranged digit only as the outer digit.
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
