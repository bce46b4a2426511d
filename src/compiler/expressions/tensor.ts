import type { DType } from "../../numerics/dtype.ts";
import type { NarrowType } from "../../numerics/narrow.ts";
import { addAffine, constantAffine, digitAffine, type Affine } from "./affine.ts";
import { REDUCTION_DIGIT, type Expr } from "./expression.ts";

/**
 * A tensor that need not exist in memory: its value as an expression over the digits of its index. Each dimension is
 * written in mixed radices (none if it is 1); digits are numbered through, dimension by dimension.
 */
export type LazyTensor = {
  dtype: DType;
  /** The type that its bytes stand for, where that is a narrow one of ONNX: only what knows of it may read them. */
  narrow?: NarrowType;
  shape: readonly number[];
  digits: readonly (readonly number[])[];
  expr: Expr;
  /** Where `shape` has room for more along an axis than there is: how many are there, int64[1]. */
  bounded?: Bounded;
  /** Dimensions from slowest to fastest, as they are to be stored if the tensor is given memory. */
  order: readonly number[];
  /** The node that gives this tensor and the operators computed in it since the last tensor with memory. */
  trail?: Trail;
};

export type Bounded = { axis: number; count: LazyTensor };

export type Trail = {
  node: string;
  /** By the outputs of the node, in order. */ operators: ReadonlyMap<string, string>;
};

export const identityOrder = (rank: number): number[] => Array.from({ length: rank }, (_, i) => i);

/** The digits of a shape, one for each dimension above 1. */
export const plainDigits = (shape: readonly number[]): number[][] => shape.map((dim) => (dim === 1 ? [] : [dim]));

/** For each dimension, its index as a function of its digits. */
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

/** The radix of each digit: of the given dimensions, and from REDUCTION_DIGIT on of a reduction. */
export function radixOf(
  digits: readonly (readonly number[])[],
  reduction: readonly number[] = [],
): (digit: number) => number {
  const radices = digits.flat();
  return (digit) => (digit >= REDUCTION_DIGIT ? reduction[digit - REDUCTION_DIGIT]! : radices[digit]!);
}

/** The radices of all digits, in the order of their numbers. */
export const allRadices = (digits: readonly (readonly number[])[]): number[] => digits.flat();
