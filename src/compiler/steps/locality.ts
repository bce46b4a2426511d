import type { ProgramBuilder } from "./builder.ts";
import type { LazyTensor } from "../expressions/tensor.ts";
import { strides } from "./views.ts";

/**
 * A quarter of the gas that a step proof may cost. Above it, copies that make the terms of a reduction neighbours are
 * tried.
 */
const COMFORTABLE_GAS = 3_000_000;

/** An operand of a reduction and the order of its dimensions in which the terms are neighbours. */
type Operand = { tensor: LazyTensor; order: readonly number[] };

/**
 * A reduction. Its operands are copied into better orders first if that makes a proof of one element much cheaper:
 * every chunk that a proof opens is calldata.
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
