import { Op } from "../../program/operations.ts";
import type { Expression } from "./slots.ts";
import { neededSlots } from "./slots.ts";
import type { LoopDigit } from "./spec.ts";

/** A digit, and by how many elements it moves the place of a result. */
export type StoredDigit = LoopDigit & { outStride: number };

/** Digits of which some are merged, and how many values of the first one a value of the given first digit has become. */
export type MergedDigits = { digits: readonly StoredDigit[]; firstScale: number };

const ONCE = { digit: -1, radix: 1, outStride: 0 };

/**
 * Merges neighbouring digits that all reads take as one: the inner one's name stays, with the product of the radices. The outer one's
 * terms are then to be left out. Digits of radix 1 go; at least one is left.
 */
export function mergeDigits(
  expression: Expression,
  digits: readonly StoredDigit[],
  outs: readonly number[],
): MergedDigits {
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
  let firstScale = 1;
  for (const next of digits) {
    const outer = merged.at(-1);
    if (next.radix === 1 && outer !== undefined) continue;
    if (outer !== undefined && areOne(outer, next)) {
      if (merged.length === 1) firstScale *= next.radix;
      merged[merged.length - 1] = { ...next, radix: outer.radix * next.radix };
    } else {
      merged.push(next);
    }
  }
  return { digits: merged.length === 0 ? [ONCE] : merged, firstScale };
}
