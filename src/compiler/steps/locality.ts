import type { ProgramBuilder } from "./builder.ts";
import type { LazyTensor } from "../expressions/tensor.ts";
import { strides } from "./views.ts";

/**
 * A quarter of the gas limit for a step proof. Above this gas, the compiler tries copies to make a reduction's terms
 * neighbours.
 */
const COMFORTABLE_GAS = 3_000_000;

/** A reduction's operand, and the dimension order in which the terms are neighbours. */
type Operand = { tensor: LazyTensor; order: readonly number[] };

/**
 * Builds a reduction. First copies the operands into better orders if a proof for one element then becomes much
 * cheaper: every chunk that a proof opens is calldata.
 */
export function withLocality(
  builder: ProgramBuilder,
  operands: readonly Operand[],
  reduce: (...tensors: LazyTensor[]) => LazyTensor,
): LazyTensor {
  const direct = reduce(...operands.map(({ tensor }) => tensor));
  const gas = builder.proofGas(direct);
  if (gas <= COMFORTABLE_GAS) return direct;
  // The copies are other tensors: other readers of an operand keep its order. Unused copies leave no step.
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
