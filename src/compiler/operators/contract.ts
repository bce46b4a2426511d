import { Reduce } from "../../program/types.ts";
import { constantAffine, digitAffine, type Affine } from "../expressions/affine.ts";
import type { ProgramBuilder } from "../steps/builder.ts";
import { REDUCTION_DIGIT, type ReadExpr } from "../expressions/expression.ts";
import { dimensionIndices, identityOrder, plainDigits, radixOf, type LazyTensor } from "../expressions/tensor.ts";
import { readAt } from "../steps/views.ts";

/** A tensor and a label for each dimension; a repeated label reads a diagonal. */
export type Labelled = { tensor: LazyTensor; labels: readonly string[] };

/** The size of each label; a dimension of 1 broadcasts. Undefined if the tensors contradict each other. */
export function labelSizes(operands: readonly Labelled[]): Map<string, number> | undefined {
  const sizes = new Map<string, number>();
  for (const { tensor, labels } of operands)
    for (const [d, label] of labels.entries()) {
      const dim = tensor.shape[d]!;
      const known = sizes.get(label) ?? 1;
      if (known !== 1 && dim !== 1 && dim !== known) return undefined;
      sizes.set(label, Math.max(known, dim));
    }
  return sizes;
}

/**
 * Sums one tensor, or two tensors' product, over all labels absent from `output`: exact, rounded once.
 * @param sizes The sizes for all labels.
 */
export function contract(
  builder: ProgramBuilder,
  operands: readonly [Labelled] | readonly [Labelled, Labelled],
  output: readonly string[],
  sizes: ReadonlyMap<string, number>,
): LazyTensor {
  const e = builder.expressions;
  const shape = output.map((label) => sizes.get(label)!);
  const digits = plainDigits(shape);
  // In the order of the last operand: weights lie there as they are read.
  const summed = [...new Set([...operands].reverse().flatMap((operand) => operand.labels))].filter(
    (label) => !output.includes(label),
  );
  const radices = summed.map((label) => sizes.get(label)!);
  const radix = radixOf(digits, radices);
  const own = dimensionIndices(digits);
  const indexOf = (label: string): Affine =>
    output.includes(label) ? own[output.indexOf(label)]! : digitAffine(REDUCTION_DIGIT + summed.indexOf(label));
  const reads = operands.map(({ tensor, labels }): ReadExpr => {
    const indices = labels.map((label, d) => (tensor.shape[d] === 1 ? constantAffine(0) : indexOf(label)));
    return readAt(e, builder.plain(tensor), indices, radix);
  });
  const { dtype } = operands[0].tensor;
  const order = identityOrder(shape.length);
  const [a, b] = reads;
  if (b === undefined && summed.length === 0) return { dtype, shape, digits, expr: a!, order };
  const reduce = b === undefined ? Reduce.sum : Reduce.dot;
  const expr = e.accumulator(reduce, dtype, dtype, radices.length === 0 ? [1] : radices, a!, b);
  return { dtype, shape, digits, expr, order };
}
