import type { ProgramBuilder } from "./builder.ts";
import type { LazyTensor } from "../expressions/tensor.ts";
import { strides } from "./views.ts";

/** A quarter of what a step proof may cost: above it, copies that make a reduction's terms neighbours are tried. */
const COMFORTABLE_GAS = 3_000_000;

/** An operand of a reduction and the order of its dimensions in which the terms are neighbours. */
export type Operand = { tensor: LazyTensor; order: readonly number[] };

/**
 * A reduction, with its operands copied into better orders first if a proof of one element would be much dearer without:
 * every chunk that it opens is calldata.
 */
export function withLocality(
  builder: ProgramBuilder,
  operands: readonly Operand[],
  reduce: (...tensors: LazyTensor[]) => LazyTensor,
): LazyTensor {
  const direct = reduce(...operands.map(({ tensor }) => tensor));
  const gas = builder.proofGas(direct);
  if (gas <= COMFORTABLE_GAS) return direct;
  // The copies are other tensors: whoever else reads an operand keeps the order that suits it. Unused ones leave no step.
  const copies = operands.map(({ tensor, order }): LazyTensor => {
    const wanted = strides(tensor.shape, order);
    const lies = builder.plain(tensor).strides;
    if (builder.isConstant(tensor) || wanted.every((stride, d) => stride === lies[d])) return tensor;
    const copy = { ...tensor };
    delete copy.trail;
    builder.store(copy, order);
    return copy;
  });
  const moved = reduce(...copies);
  return builder.proofGas(moved) < gas ? moved : direct;
}
