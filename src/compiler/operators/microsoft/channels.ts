import type { Lower, NodeContext } from "../../lowering/nodeContext.ts";
import { identityOrder, type LazyTensor } from "../../expressions/tensor.ts";
import { transposed } from "../../steps/views.ts";

/** Channels last as channels second; refused without a dimension between them and the first. */
export function channelsToSecond(context: NodeContext, x: LazyTensor): LazyTensor {
  const rank = x.shape.length;
  if (rank < 3) return context.fail(`data of rank ${rank}`);
  return transposed(context.expressions, x, [0, rank - 1, ...identityOrder(rank).slice(1, -1)]);
}

/** Channels second as channels last. */
export function channelsToLast(context: NodeContext, x: LazyTensor): LazyTensor {
  const rank = x.shape.length;
  return transposed(context.expressions, x, [0, ...identityOrder(rank).slice(2), 1]);
}

/** A convolution whose data may lie with the channels last. */
export const withChannelsLast =
  (lower: Lower): Lower =>
  (context) => {
    if (context.int("channels_last", 0) === 0) return lower(context);
    const moved = context.withInputs([channelsToSecond(context, context.input(0)), ...context.inputs.slice(1)]);
    return lower(moved).map((y) => y && channelsToLast(context, y));
  };
