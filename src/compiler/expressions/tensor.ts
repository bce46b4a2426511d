import type { DType } from "../../numerics/dtype.ts";
import type { NarrowType } from "../../numerics/narrow.ts";
import { addAffine, constantAffine, digitAffine, type Affine } from "./affine.ts";
import { REDUCTION_DIGIT, type Expr } from "./expression.ts";

/**
 * A tensor that need not exist in memory: the value as an expression over the index digits. Each dimension has mixed
 * radices (none if the dimension is 1); digits are numbered through, dimension by dimension.
 */
export type LazyTensor = {
  dtype: DType;
  /** The narrow ONNX type that the bytes stand for, if any: only code that knows the type may read the bytes. */
  narrow?: NarrowType;
  shape: readonly number[];
  digits: readonly (readonly number[])[];
  expr: Expr;
  /** Where `shape` has room for more elements along an axis than exist: the count of existing elements, int64[1]. */
  bounded?: Bounded;
  /** Dimensions from slowest to fastest, as they are to be stored if the tensor is given memory. */
  order: readonly number[];
  /** The node that produces this tensor, and the operators computed in the tensor since the last tensor with memory. */
  trail?: Trail;
};

export type Bounded = { axis: number; count: LazyTensor };

export type Trail = {
  node: string;
  /** By the outputs of the node, in order. */ operators: ReadonlyMap<string, string>;
};

export const identityOrder = (rank: number): number[] => Array.from({ length: rank }, (_, i) => i);

/** Checks that attributes asked for no negative dimension, nor for a part of one. @throws RangeError */
export function checkShape(shape: readonly number[]): void {
  if (!shape.every((dim) => Number.isInteger(dim) && dim >= 0))
    throw new RangeError(`a tensor of shape [${shape.join()}]`);
}

/** Returns a shape's digits, one digit for each dimension above 1. @throws RangeError of `checkShape` */
export function plainDigits(shape: readonly number[]): number[][] {
  checkShape(shape);
  return shape.map((dim) => (dim === 1 ? [] : [dim]));
}

/** Returns each dimension's index as an affine digit function. */
export function dimensionIndices(digits: readonly (readonly number[])[]): Affine[] {
  let next = 0;
  return digits.map((radices) => {
    let index = constantAffine(0);
    // Where there are no elements, any index does.
    let weight = radices.reduce((product, radix) => product * Math.max(1, radix), 1);
    for (const radix of radices) {
      weight /= Math.max(1, radix);
      index = addAffine(index, digitAffine(next++, weight));
    }
    return index;
  });
}

/** Returns each digit's radix: the given dimensions' digits, and from REDUCTION_DIGIT on a reduction's digits. */
export function radixOf(
  digits: readonly (readonly number[])[],
  reduction: readonly number[] = [],
): (digit: number) => number {
  const radices = digits.flat();
  return (digit) => (digit >= REDUCTION_DIGIT ? reduction[digit - REDUCTION_DIGIT]! : radices[digit]!);
}

/** Returns all digits' radices, in the order of digit numbers. */
export const allRadices = (digits: readonly (readonly number[])[]): number[] => digits.flat();
