import { addAffine, affineRange, constantAffine, scaleAffine } from "./affine.ts";
import type { ReadAxis } from "./expression.ts";

/**
 * Merges the axes that can never exceed their bounds into a single axis with stride 1. A view then has an axis for each
 * bound to check and at most one more.
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
