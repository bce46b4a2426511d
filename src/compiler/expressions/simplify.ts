import { addAffine, affineRange, constantAffine, scaleAffine } from "./affine.ts";
import type { ReadAxis } from "./expression.ts";

/**
 * Axes that can never be out of bounds merge into one of stride 1, so that a view has an axis for each bound that
 * must be checked and at most one more.
 * @param radix of a digit
 */
export function simplifyAxes(axes: readonly ReadAxis[], radix: (digit: number) => number): ReadAxis[] {
  const guarded: ReadAxis[] = [];
  let flat = constantAffine(0);
  for (const axis of axes) {
    const [low, high] = affineRange(axis.index, radix);
    if (axis.indirect !== undefined || (axis.div ?? 1) > 1 || low < 0 || high >= axis.extent) guarded.push(axis);
    else flat = addAffine(flat, scaleAffine(axis.index, axis.stride));
  }
  if (flat.base === 0 && flat.coeffs.size === 0) return guarded;
  const [, high] = affineRange(flat, radix);
  return [{ extent: high + 1, stride: 1, index: flat }, ...guarded];
}
