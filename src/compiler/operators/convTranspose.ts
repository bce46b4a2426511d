import { Op } from "../../program/operations.ts";
import { Reduce } from "../../program/types.ts";
import { addAffine, constantAffine, digitAffine, scaleAffine } from "../affine.ts";
import { REDUCTION_DIGIT, type ReadAxis } from "../expression.ts";
import type { Lower, NodeContext } from "../nodeContext.ts";
import { channelsLast } from "../storage.ts";
import { dimensionIndices, identityOrder, type LazyTensor } from "../tensor.ts";
import { readAt } from "../views.ts";
import { broadcast, floatInput } from "./elementwise.ts";

type Window = { input: number; output: number; kernel: number; stride: number; dilation: number; padBegin: number };

function readWindows(context: NodeContext, sizes: readonly number[], kernel: readonly number[]): Window[] {
  const rank = sizes.length;
  const list = (name: string, otherwise: number, length = rank): number[] => {
    const found = context.ints(name) ?? new Array<number>(length).fill(otherwise);
    if (found.length !== length) context.fail(`${name} has ${found.length} values, expected ${length}`);
    return found;
  };
  const mode = context.string("auto_pad", "NOTSET");
  if (mode !== "NOTSET" && mode !== "VALID") context.refuse("auto_pad", `is ${mode}`);
  if (context.has("output_shape")) context.refuse("output_shape", "is not executed: give pads");
  const given = context.ints("kernel_shape") ?? kernel;
  if (given.join() !== kernel.join()) context.fail(`kernel_shape [${given.join()}] does not fit`);
  const [strides, dilations] = [list("strides", 1), list("dilations", 1)];
  const [extra, pads] = [list("output_padding", 0), list("pads", 0, 2 * rank)];
  return sizes.map((input, d) => {
    const [stride, dilation, padBegin] = [strides[d]!, dilations[d]!, pads[d]!];
    const extent = dilation * (kernel[d]! - 1) + 1;
    const output = stride * (input - 1) + extra[d]! + extent - padBegin - pads[d + rank]!;
    if (output < 1 || padBegin < 0) context.fail(`dimension ${d} has the size ${output}`);
    return { input, output, kernel: kernel[d]!, stride, dilation, padBegin };
  });
}

/** ConvTranspose: a dot over kernel positions and channels, of those input positions that the stride reaches; then the bias. */
export const convTranspose: Lower = (context) => {
  const { builder, expressions: e } = context;
  const [x, w] = [floatInput(context, 0), floatInput(context, 1)];
  const rank = x.shape.length;
  const groups = context.int("group", 1);
  const [channels = 0, members = 0, ...kernel] = w.shape;
  if (rank < 3 || w.shape.length !== rank || x.shape[1] !== channels || channels % groups !== 0)
    return context.fail(`data [${x.shape.join()}], weights [${w.shape.join()}], ${groups} groups`);
  const perGroup = channels / groups;
  const windows = readWindows(context, x.shape.slice(2), kernel);
  const shape = [x.shape[0]!, groups * members, ...windows.map((window) => window.output)];

  // Committed with the reduction contiguous: output channel of the group, kernel positions, channel.
  if (builder.isConstant(w)) builder.store(w, [1, ...identityOrder(rank).slice(2), 0]);
  let input = builder.plain(x);
  // A coordinate that is divided counts upwards only.
  if (input.strides.some((stride) => stride < 0)) {
    builder.store(x, channelsLast(rank));
    input = builder.plain(x);
  }
  const weights = builder.plain(w);
  const digits = shape.map((dim, d) => (d === 1 ? [groups, members].filter((r) => r > 1) : dim === 1 ? [] : [dim]));
  const indices = dimensionIndices(digits);
  const radices = [...windows.map((window) => window.kernel), perGroup];
  const outRadices = digits.flat();
  const radix = (digit: number): number =>
    digit >= REDUCTION_DIGIT ? radices[digit - REDUCTION_DIGIT]! : outRadices[digit]!;
  const first = digits[0]!.length;
  const group = groups > 1 ? digitAffine(first) : constantAffine(0);
  const member = members > 1 ? digitAffine(first + (groups > 1 ? 1 : 0)) : constantAffine(0);
  const channel = addAffine(scaleAffine(group, perGroup), digitAffine(REDUCTION_DIGIT + windows.length));

  const spatial = windows.map((window, k): ReadAxis => {
    const shifted = addAffine(indices[k + 2]!, constantAffine(window.padBegin));
    const index = addAffine(shifted, digitAffine(REDUCTION_DIGIT + k, -window.dilation));
    return { extent: window.input, stride: input.strides[k + 2]!, index, div: window.stride };
  });
  const outer = { ...input, shape: input.shape.slice(0, 2), strides: input.strides.slice(0, 2) };
  const a = e.read(input.source, [...readAt(e, outer, [indices[0]!, channel], radix).axes, ...spatial]);
  const kernelIndices = windows.map((_, k) => digitAffine(REDUCTION_DIGIT + k));
  const b = readAt(e, weights, [channel, member, ...kernelIndices], radix);
  const expr = e.accumulator(Reduce.dot, x.dtype, x.dtype, radices, a, b);
  const product: LazyTensor = { dtype: x.dtype, shape, digits, expr, order: channelsLast(rank) };
  const bias = context.optional(2);
  if (bias === undefined) return [product];
  const column = builder.reshape(bias, [groups * members, ...windows.map(() => 1)]);
  return [broadcast(context, [product, column], (p, q) => e.operation(Op.add, p, q))];
};
