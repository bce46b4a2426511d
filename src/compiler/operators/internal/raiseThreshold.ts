import { DType } from "../../../numerics/dtype.ts";
import { Reduce } from "../../../program/types.ts";
import { constantAffine, digitAffine } from "../../expressions/affine.ts";
import { REDUCTION_DIGIT } from "../../expressions/expression.ts";
import { plainDigits, radixOf, type LazyTensor } from "../../expressions/tensor.ts";
import { broadcast } from "../../lowering/broadcast.ts";
import type { Lower } from "../../lowering/nodeContext.ts";
import { readAt } from "../../steps/views.ts";

/**
 * RaiseThreshold(keys, low, wanted, weights): one step of a bisection. Gives low + `step` if the weights for all keys
 * at or above low + `step` reach `wanted`, else low. keys: int32[n]; low: int32[1]; without weights each key counts 1
 * and wanted is int64[1], else weights and wanted are float32[n] and float32[1]. The sum is exact: a lower threshold
 * never gives a smaller sum.
 */
export const raiseThreshold: Lower = (context) => {
  const { builder, expressions: e } = context;
  const [keys, low, wanted, weights] = [context.input(0), context.input(1), context.input(2), context.optional(3)];
  const step = e.constant(DType.int32, BigInt(context.int("step", 1)));
  const type = weights === undefined ? DType.int64 : DType.float32;
  const [count = 0] = keys.shape;
  const isVector = (tensor: LazyTensor, dtype: DType, length: number): boolean =>
    tensor.dtype === dtype && tensor.shape.join() === String(length);
  if (
    !(count > 0 && isVector(keys, DType.int32, count) && isVector(low, DType.int32, 1) && isVector(wanted, type, 1)) ||
    !(weights === undefined || isVector(weights, type, count))
  )
    return context.fail("it takes keys int32[n], low int32[1], and wanted and weights as the operator says");
  const digits = plainDigits([1]);
  const radix = radixOf(digits, [count]);
  const at = count === 1 ? constantAffine(0) : digitAffine(REDUCTION_DIGIT);
  const read = (tensor: LazyTensor, index: typeof at) => readAt(e, builder.plain(tensor), [index], radix);
  const candidate = e.add(read(low, constantAffine(0)), step);
  const weight = weights === undefined ? e.int64(1) : read(weights, at);
  const term = e.select(e.le(candidate, read(keys, at)), weight, e.constant(type, 0n));
  const sum = e.accumulator(Reduce.sum, type, type, [count], term);
  const reached: LazyTensor = { dtype: type, shape: [1], digits, expr: sum, order: [0] };
  return [
    broadcast(
      context,
      [reached, low, wanted],
      (total, from, min) => e.select(e.le(min, total), e.add(from, step), from),
      true,
    ),
  ];
};
