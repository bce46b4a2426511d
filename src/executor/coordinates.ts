import { staysInside } from "../program/loops.ts";
import type { Axis, Step, View } from "../program/types.ts";
import { splitDigits } from "../program/view.ts";

/**
 * A coordinate: for each term, the part that depends on the reduction digits, and a function from out digits to their
 * part.
 */
export type Coordinate = { moves: Int32Array | Float64Array; start: (outDigits: readonly number[]) => number };

/**
 * Returns the view's offset as one sum over digits, if the view always stays inside the tensor. Otherwise returns
 * undefined.
 */
export function wholeCoordinate({ outDigits, redDigits }: Step, view: View): Pick<Axis, "base" | "coeffs"> | undefined {
  if (!staysInside(view, [...outDigits, ...redDigits])) return undefined;
  const { axes } = view;
  const coeffs = axes.flatMap((axis) => axis.coeffs.map(({ digit, coeff }) => ({ digit, coeff: coeff * axis.stride })));
  return { base: axes.reduce((at, { base, stride }) => at + base * stride, 0), coeffs };
}

/** @param moves Receives each term's part, which depends on the reduction digits. */
export function coordinate(
  { outDigits, redDigits }: Step,
  { base, coeffs }: Pick<Axis, "base" | "coeffs">,
  moves: Coordinate["moves"],
): Coordinate {
  const red = coeffs.filter(({ digit }) => digit >= outDigits.length);
  for (let r = 0; red.length > 0 && r < moves.length; r++) {
    const digits = splitDigits(r, redDigits);
    moves[r] = red.reduce((sum, { digit, coeff }) => sum + coeff * digits[digit - outDigits.length]!, 0);
  }
  const out = coeffs.filter(({ digit }) => digit < outDigits.length);
  const start = (own: readonly number[]): number => out.reduce((c, { digit, coeff }) => c + coeff * own[digit]!, base);
  return { moves, start };
}
