import {
  addAffine,
  affineRange,
  constantAffine,
  digitAffine,
  scaleAffine,
  type Affine,
} from "../expressions/affine.ts";
import type { Expr, Expressions, ReadAxis, ReadExpr } from "../expressions/expression.ts";
import { identityOrder, plainDigits, radixOf, type LazyTensor } from "../expressions/tensor.ts";
import { digitStarts } from "../steps/views.ts";

/**
 * Returns the elements at given indices along one dimension, from a tensor computed element by element: only the chosen
 * elements are computed. An index wraps once; an index out of range gives 0.
 * @param indirect The index, read at the result's digits.
 * @param shape The shape of the indices.
 * @returns undefined if the tensor's reads do not move evenly along the dimension
 */
export function chosenRows(
  e: Expressions,
  x: LazyTensor,
  axis: number,
  indirect: ReadExpr,
  shape: readonly number[],
): LazyTensor | undefined {
  if (x.digits[axis]!.length !== 1) return undefined;
  const dim = x.shape[axis]!;
  const digits = [...x.digits.slice(0, axis), ...plainDigits(shape), ...x.digits.slice(axis + 1)];
  const own = digitStarts(x.digits);
  const starts = digitStarts(digits);
  // The dimension's own digit, different from all digits of the result.
  const chosen = digits.flat().length;
  const target = new Map<number, Affine>([[own[axis]!, digitAffine(chosen)]]);
  x.digits.forEach((radices, d) => {
    const to = starts[d < axis ? d : d + shape.length - 1];
    if (d !== axis) radices.forEach((_, k) => target.set(own[d]! + k, digitAffine(to! + k)));
  });
  const ofResult = radixOf(digits);
  const radix = (digit: number): number => (digit === chosen ? dim : ofResult(digit));
  let isEven = true;
  const moved = e.remap(x.expr, (digit) => target.get(digit));
  const value = e.withReads(moved, (read) => {
    const at = indirectAxes(read, chosen, { extent: dim, indirect }, radix);
    isEven &&= at !== undefined;
    return at === undefined ? read : e.read(read.source, at, read.fill);
  });
  if (!isEven || usesDigit(value, chosen, new Set())) return undefined;
  const bound = (at: number): Expr => e.like(indirect, at);
  const inside = e.and(e.le(bound(-dim), indirect), e.lt(indirect, bound(dim)));
  const expr = e.select(inside, value, e.like(value, 0));
  const whole = [...x.shape.slice(0, axis), ...shape, ...x.shape.slice(axis + 1)];
  return { dtype: x.dtype, shape: whole, digits, expr, order: identityOrder(whole.length) };
}

/** The axes of a read with an index from memory in place of a digit; undefined if there is no simple way. */
function indirectAxes(
  { axes }: ReadExpr,
  digit: number,
  { extent, indirect }: { extent: number; indirect: ReadExpr },
  radix: (digit: number) => number,
): ReadAxis[] | undefined {
  const along = axes.filter(({ index }) => index.coeffs.has(digit));
  if (along.length === 0) return [...axes];
  const [only] = along;
  const coeff = only!.index.coeffs.get(digit)!;
  const [low, high] = affineRange(only!.index, radix);
  const isPlain = along.length === 1 && (only!.div ?? 1) === 1 && low >= 0 && high < only!.extent;
  if (!isPlain || coeff * only!.stride <= 0) return undefined;
  const index = addAffine(only!.index, scaleAffine(digitAffine(digit), -coeff));
  const rest = axes.flatMap((axis): ReadAxis[] => {
    if (axis !== only) return [axis];
    const isNothing = index.base === 0 && index.coeffs.size === 0;
    return isNothing ? [] : [{ extent: affineRange(index, radix)[1] + 1, stride: axis.stride, index }];
  });
  return [...rest, { extent, stride: coeff * only!.stride, index: constantAffine(0), indirect }];
}

/** Whether operations take a digit's value. @param seen Parts in which they do not. */
function usesDigit(expr: Expr, digit: number, seen: Set<Expr>): boolean {
  if (seen.has(expr)) return false;
  seen.add(expr);
  if (expr.kind === "digit") return expr.digit === digit;
  return expr.kind === "operation" && expr.args.some((arg) => usesDigit(arg, digit, seen));
}
