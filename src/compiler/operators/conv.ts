import { Reduce } from "../../program/types.ts";
import { addAffine, digitAffine, type Affine } from "../expressions/affine.ts";
import { REDUCTION_DIGIT } from "../expressions/expression.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";
import { channelsLast } from "../steps/storage.ts";
import { dimensionIndices, radixOf, type LazyTensor } from "../expressions/tensor.ts";
import { readAt } from "../steps/views.ts";
import { readWindows, windowIndex } from "./window.ts";
import { broadcast } from "../lowering/broadcast.ts";

/** Conv over any number of spatial dimensions: an exact dot over kernel positions and channels, then the bias. */
export const conv: Lower = (context) => [
  addBias(context, convolution(context, context.floatInput(0), context.floatInput(1)), 2),
];

/** The exact convolution for two tensors with one type, without bias; the padding is 0. */
export function convolution(context: NodeContext, x: LazyTensor, w: LazyTensor): LazyTensor {
  const { builder } = context;
  const rank = x.shape.length;
  const groups = context.int("group", 1);
  const [outputs = 0, perGroup = 0, ...kernel] = w.shape;
  if (rank < 3 || w.shape.length !== rank)
    return context.fail(`data of rank ${rank}, weights of rank ${w.shape.length}`);
  if (x.shape[1] !== perGroup * groups || outputs % groups !== 0)
    return context.fail(`${x.shape[1]} channels, weights [${w.shape.join()}], ${groups} groups`);
  const windows = readWindows(context, x.shape.slice(2), kernel);
  const shape = [x.shape[0]!, outputs, ...windows.map((window) => window.output)];

  const input = builder.plain(x);
  // Committed with the reduction contiguous: output channel, kernel positions, channel of the group.
  const weights = builder.plain(builder.weights(w, channelsLast(rank)));

  const members = outputs / groups;
  const digits = shape.map((dim, d) => (d === 1 ? [groups, members].filter((r) => r > 1) : dim === 1 ? [] : [dim]));
  const indices = dimensionIndices(digits);
  const group: Affine = groups === 1 ? { base: 0, coeffs: new Map() } : digitAffine(digits[0]!.length);
  const radices = [...windows.map((window) => window.kernel), perGroup];
  const channel = REDUCTION_DIGIT + windows.length;
  const radix = radixOf(digits, radices);
  const scaledGroup = { base: 0, coeffs: new Map([...group.coeffs].map(([d, c]) => [d, c * perGroup])) };

  const e = context.expressions;
  const a = readAt(
    e,
    input,
    [
      indices[0]!,
      addAffine(scaledGroup, digitAffine(channel)),
      ...windows.map((window, k) => windowIndex(window, indices[k + 2]!, REDUCTION_DIGIT + k)),
    ],
    radix,
  );
  const b = readAt(
    e,
    weights,
    [indices[1]!, digitAffine(channel), ...windows.map((_, k) => digitAffine(REDUCTION_DIGIT + k))],
    radix,
  );
  const expr = e.accumulator(Reduce.dot, x.dtype, x.dtype, radices, a, b);
  return { dtype: x.dtype, shape, digits, expr, order: channelsLast(rank) };
}

/** Adds the vector at input `index`, if present, along dimension 1. */
export function addBias(context: NodeContext, product: LazyTensor, index: number): LazyTensor {
  const [, outputs = 0, ...spatial] = product.shape;
  const bias = context.optional(index);
  if (bias === undefined) return product;
  if (bias.dtype !== product.dtype || bias.shape.length !== 1 || bias.shape[0] !== outputs)
    return context.fail(`a bias of shape [${bias.shape.join()}] for ${outputs} channels`);
  const column = context.builder.reshape(bias, [outputs, ...spatial.map(() => 1)]);
  return broadcast(context, [product, column], context.expressions.add);
}
