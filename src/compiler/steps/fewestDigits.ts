import type { Affine } from "../expressions/affine.ts";

type Digit = { digit: number; radix: number };

/** The digits of a step, and the map from the compiler's digits to the step's digits. */
export type DigitMap = {
  out: number[];
  red: number[];
  /** Returns the step's number for a digit named by an instruction. */
  number: (digit: number) => number;
  /** The coefficients of an affine function in the step's digits, increasing. */
  coeffs: (index: Affine) => { digit: number; coeff: number }[];
};

/** Groups of neighbours that act as one digit: for every index, coeff(high) = coeff(low) * radix(low). */
function groups(digits: readonly Digit[], indices: readonly Affine[], named: ReadonlySet<number>): Digit[][] {
  const result: Digit[][] = [];
  for (const low of digits) {
    if (low.radix === 1) continue;
    const high = result.at(-1)?.at(-1);
    const acts = (index: Affine): boolean =>
      (index.coeffs.get(high!.digit) ?? 0) === (index.coeffs.get(low.digit) ?? 0) * low.radix;
    if (high !== undefined && !named.has(high.digit) && !named.has(low.digit) && indices.every(acts))
      result.at(-1)!.push(low);
    else result.push([low]);
  }
  return result;
}

const radixOf = (group: readonly Digit[]): number => group.reduce((product, d) => product * d.radix, 1);

/**
 * Returns the fewest digits for a step: digits with radix 1 vanish, and neighbours that act alike in every index join.
 * @param named Digits that instructions name; these stay separate.
 */
export function fewestDigits(
  out: readonly Digit[],
  red: readonly Digit[],
  indices: readonly Affine[],
  named: readonly number[],
): DigitMap {
  const names = new Set(named);
  const outGroups = groups(out, indices, names);
  const redGroups = groups(red, indices, names);
  // An empty list stands for one digit with radix 1, because the encoding requires a digit.
  const outRadices = outGroups.length === 0 ? [1] : outGroups.map(radixOf);
  const redRadices = redGroups.length === 0 ? [1] : redGroups.map(radixOf);
  const last = [
    ...outGroups.map((group, n) => [group.at(-1)!.digit, n] as const),
    ...redGroups.map((group, n) => [group.at(-1)!.digit, outRadices.length + n] as const),
  ];
  const numbers = new Map(last);
  return {
    out: outRadices,
    red: redRadices,
    number: (digit) => numbers.get(digit)!,
    coeffs: (index) =>
      [...index.coeffs]
        .flatMap(([digit, coeff]) => (numbers.has(digit) ? [{ digit: numbers.get(digit)!, coeff }] : []))
        .sort((a, b) => a.digit - b.digit),
  };
}
