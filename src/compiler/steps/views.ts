import {
  addAffine,
  affineRange,
  constantAffine,
  digitAffine,
  scaleAffine,
  substitute,
  type Affine,
} from "../expressions/affine.ts";
import { commonRefinement, groupRadices } from "../expressions/digits.ts";
import type { Expressions, ReadAxis, ReadExpr } from "../expressions/expression.ts";
import { simplifyAxes } from "../expressions/simplify.ts";
import {
  allRadices,
  dimensionIndices,
  identityOrder,
  plainDigits,
  radixOf,
  type LazyTensor,
} from "../expressions/tensor.ts";
import type { TensorRef } from "../../program/types.ts";
import type { Word } from "../../numerics/dtype.ts";

/** A tensor in memory whose element at an index is at `base + sum(index * stride)`. */
export type PlainTensor = { source: TensorRef; base: number; strides: readonly number[]; shape: readonly number[] };

/** Returns each dimension's stride in a row-major tensor. */
export function rowMajorStrides(shape: readonly number[]): number[] {
  return strides(shape, identityOrder(shape.length));
}

/** The stride of each dimension if dimensions are stored in `order`, slowest first. */
export function strides(shape: readonly number[], order: readonly number[]): number[] {
  const result = new Array<number>(shape.length).fill(0);
  let stride = 1;
  for (const dim of order.toReversed()) {
    result[dim] = stride;
    stride *= shape[dim]!;
  }
  return result;
}

/**
 * Returns the base of a read and each dimension's stride; undefined for bounded or indirect reads, and for reads not
 * affine in the dimensions.
 */
export function plainStrides(
  expr: ReadExpr,
  digits: LazyTensor["digits"],
): { base: number; strides: number[] } | undefined {
  const radix = radixOf(digits);
  const axes = simplifyAxes(expr.axes, radix);
  const [flat] = axes;
  if (flat === undefined) return { base: 0, strides: digits.map(() => 0) };
  if (axes.length > 1 || flat.stride !== 1 || flat.indirect !== undefined || (flat.div ?? 1) > 1) return undefined;
  const [low, high] = affineRange(flat.index, radix);
  if (low < 0 || high >= flat.extent) return undefined;
  let rest: Affine = flat.index;
  const result = dimensionIndices(digits).map((index) => {
    const fastest = Math.max(-1, ...index.coeffs.keys());
    const stride = flat.index.coeffs.get(fastest) ?? 0;
    rest = addAffine(rest, scaleAffine(index, -stride));
    return stride;
  });
  return rest.coeffs.size === 0 ? { base: flat.index.base, strides: result } : undefined;
}

/**
 * Reads a tensor in memory at the given index of each dimension; an index that can leave the bounds gives `fill`
 * outside.
 * @param radix of a digit
 * @param divs By dimension, a divisor above 1 for the index: an index not divisible by the divisor gives `fill`.
 */
export function readAt(
  expressions: Expressions,
  { source, base, strides, shape }: PlainTensor,
  indices: readonly Affine[],
  radix: (digit: number) => number,
  fill: Word = 0n,
  divs: readonly number[] = [],
): ReadExpr {
  const guarded: ReadAxis[] = [];
  let flat = constantAffine(base);
  shape.forEach((extent, dim) => {
    const stride = strides[dim]!;
    const index = indices[dim]!;
    const [low, high] = affineRange(index, radix);
    const div = divs[dim] ?? 1;
    if (div > 1) {
      const [at, sign] = stride >= 0 ? [0, 1] : [extent - 1, -1];
      flat = addAffine(flat, constantAffine(stride * at));
      const own = addAffine(constantAffine(at * div), scaleAffine(index, sign));
      guarded.push({ extent, stride: stride * sign, index: own, div });
    } else if (low >= 0 && high < extent) {
      flat = addAffine(flat, scaleAffine(index, stride));
    } else if (stride >= 0) {
      guarded.push({ extent, stride, index });
    } else {
      flat = addAffine(flat, constantAffine(stride * (extent - 1)));
      guarded.push({ extent, stride: -stride, index: addAffine(constantAffine(extent - 1), scaleAffine(index, -1)) });
    }
  });
  return expressions.read(source, [...flatAxis(flat, radix), ...guarded], fill);
}

/** Returns the axis for an offset that never leaves the tensor; no axis if the offset is always 0. */
function flatAxis(flat: Affine, radix: (digit: number) => number): ReadAxis[] {
  if (flat.base === 0 && flat.coeffs.size === 0) return [];
  return [{ extent: affineRange(flat, radix)[1] + 1, stride: 1, index: flat }];
}

/** A tensor in memory as a lazy one. */
export function lazyOf(expressions: Expressions, plain: PlainTensor, order: readonly number[]): LazyTensor {
  const digits = plainDigits(plain.shape);
  const expr = readAt(expressions, plain, dimensionIndices(digits), radixOf(digits));
  return { dtype: plain.source.dtype, shape: plain.shape, digits, expr, order };
}

/** Permutes dimensions: the result's dimension d comes from dimension `perm[d]`. */
export function transposed(expressions: Expressions, tensor: LazyTensor, perm: readonly number[]): LazyTensor {
  const digits = perm.map((dim) => tensor.digits[dim]!);
  const starts = digitStarts(tensor.digits);
  const target = new Map<number, Affine>();
  let next = 0;
  for (const dim of perm) tensor.digits[dim]!.forEach((_, k) => target.set(starts[dim]! + k, digitAffine(next++)));
  return {
    ...tensor,
    shape: perm.map((dim) => tensor.shape[dim]!),
    digits,
    expr: expressions.remap(tensor.expr, (digit) => target.get(digit)),
    order: tensor.order.map((dim) => perm.indexOf(dim)),
  };
}

/** Returns the number of each dimension's first digit. */
export function digitStarts(digits: LazyTensor["digits"]): number[] {
  let next = 0;
  return digits.map((radices) => {
    const start = next;
    next += radices.length;
    return start;
  });
}

/**
 * Returns a tensor's expression over finer digits.
 * @param finer For each dimension of the tensor, digits whose groups make up the dimension's digits, and the first
 *   digit's number.
 */
export function refine(
  expressions: Expressions,
  tensor: LazyTensor,
  finer: readonly { radices: readonly number[]; start: number }[],
): LazyTensor["expr"] {
  const target = new Map<number, Affine>();
  const starts = digitStarts(tensor.digits);
  tensor.digits.forEach((own, dim) => {
    let next = finer[dim]!.start;
    groupRadices(finer[dim]!.radices, own).forEach((group, k) => {
      const [index] = dimensionIndices([group]);
      const shift = next;
      target.set(
        starts[dim]! + k,
        substitute(index!, (digit) => digitAffine(digit + shift)),
      );
      next += group.length;
    });
  });
  return expressions.remap(tensor.expr, (digit) => target.get(digit));
}

/**
 * The same elements in row-major order under another shape; undefined if the digits of the two shapes have no common
 * refinement.
 */
export function reshaped(
  expressions: Expressions,
  tensor: LazyTensor,
  shape: readonly number[],
): LazyTensor | undefined {
  const old = allRadices(tensor.digits);
  const fine = commonRefinement(old, shape);
  if (fine === undefined) return undefined;
  const flat: LazyTensor = { ...tensor, digits: [old] };
  const keepsOrder = shape.length === tensor.shape.length && shape.every((dim, d) => dim === tensor.shape[d]);
  return {
    dtype: tensor.dtype,
    shape,
    digits: groupRadices(fine, shape),
    expr: refine(expressions, flat, [{ radices: fine, start: 0 }]),
    order: keepsOrder ? tensor.order : identityOrder(shape.length),
  };
}

/**
 * Reads dimension d of a tensor at `indices[d]`, in bounds, a function of `shape`'s digits (one digit per dimension
 * above 1). A dimension must have one digit, unless the dimension's index equals the dimension's own index.
 */
export function indexed(
  expressions: Expressions,
  tensor: LazyTensor,
  shape: readonly number[],
  indices: readonly Affine[],
  order: readonly number[],
): LazyTensor {
  const starts = digitStarts(tensor.digits);
  const target = new Map<number, Affine>();
  tensor.digits.forEach((own, dim) => {
    if (own.length === 1) target.set(starts[dim]!, indices[dim]!);
  });
  const expr = expressions.remap(tensor.expr, (digit) => target.get(digit));
  return { dtype: tensor.dtype, shape, digits: plainDigits(shape), expr, order };
}
