import { Reduce } from "../../program/types.ts";
import { addAffine, constantAffine, digitAffine, scaleAffine, type Affine } from "../expressions/affine.ts";
import { REDUCTION_DIGIT, type ReadAxis } from "../expressions/expression.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";
import { channelsLast } from "../steps/storage.ts";
import { dimensionIndices, radixOf, type LazyTensor } from "../expressions/tensor.ts";
import { readAt } from "../steps/views.ts";
import { broadcast } from "../lowering/broadcast.ts";

/**
 * One spatial dimension: output position o receives input i through kernel position k where o + pad = i * stride + k *
 * dilation.
 */
type Spread = { input: number; output: number; kernel: number; stride: number; dilation: number; pad: number };

function readSpreads(context: NodeContext, sizes: readonly number[], weightKernel: readonly number[]): Spread[] {
  const rank = sizes.length;
  const list = (name: string, otherwise: readonly number[]): readonly number[] => context.intsLike(name, otherwise);
  const fill = (value: number): number[] => sizes.map(() => value);
  const kernel = list("kernel_shape", weightKernel);
  if (kernel.join() !== weightKernel.join()) context.fail(`kernel_shape [${kernel.join()}] does not fit`);
  const [strides, dilations] = [list("strides", fill(1)), list("dilations", fill(1))];
  const [extra, pads] = [list("output_padding", fill(0)), list("pads", [...fill(0), ...fill(0)])];
  const wanted = context.has("output_shape") ? list("output_shape", fill(0)) : undefined;
  const mode = context.string("auto_pad", "NOTSET");
  if (!["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"].includes(mode)) context.refuse("auto_pad", `is ${mode}`);
  if ([...strides, ...dilations].some((value) => value < 1)) context.fail("strides and dilations are at least 1");
  if ([...pads, ...extra].some((value) => value < 0)) context.refuse("pads", "are negative");
  return sizes.map((input, d) => {
    const [stride, dilation] = [strides[d]!, dilations[d]!];
    const reach = stride * (input - 1) + extra[d]! + dilation * (kernel[d]! - 1) + 1;
    const spread = { input, kernel: kernel[d]!, stride, dilation };
    const output = wanted?.[d] ?? (mode.startsWith("SAME") ? input * stride : undefined);
    if (output === undefined) {
      const [begin, end] = mode === "VALID" ? [0, 0] : [pads[d]!, pads[d + rank]!];
      const size = reach - begin - end;
      if (size < 1) context.fail(`an output of ${size} positions`);
      return { ...spread, output: size, pad: begin };
    }
    if (output < 1) context.fail(`an output of ${output} positions`);
    const total = Math.max(0, reach - output);
    // Engines and the specification differ on what lies beyond the last window.
    if (wanted === undefined && reach < output)
      context.refuse("auto_pad", `is ${mode} with a stride above the kernel's extent`);
    // An odd total has its larger half at the end for SAME_UPPER, else at the beginning.
    return { ...spread, output, pad: mode === "SAME_UPPER" ? Math.floor(total / 2) : Math.ceil(total / 2) };
  });
}

/**
 * The reading of a dimension: the digits, one reduction digit with `terms` terms, the input index (to be divided by
 * `div`) and the kernel index.
 */
type Reading = { digits: number[]; terms: number; input: Affine; div: number; kernel: Affine };

/**
 * Reads one dimension. If the output size is a multiple of the stride, all output positions in one phase meet the same
 * kernel positions, and only the kernel positions met are terms. Else every kernel position is a term, and positions
 * between inputs read 0.
 * @param first The number of the dimension's first digit.
 */
function readingOf(spread: Spread, first: number, red: number): Reading {
  const { output, kernel, stride, dilation, pad } = spread;
  if (dilation === 1 && stride > 1 && output % stride === 0) {
    const radices = [output / stride, stride].filter((radix) => radix > 1);
    const [whole, part] = [Math.floor(pad / stride), pad % stride];
    const shift = part > 0 ? 1 : 0;
    const phase = digitAffine(first + radices.length - 1);
    const block = output === stride ? constantAffine(0) : digitAffine(first);
    const j = digitAffine(red);
    return {
      digits: radices,
      terms: shift + Math.max(0, Math.floor((kernel - 1 - part) / stride)) + 1,
      input: addAffine(addAffine(block, constantAffine(whole + shift)), scaleAffine(j, -1)),
      div: 1,
      kernel: addAffine(addAffine(phase, constantAffine(part - stride * shift)), scaleAffine(j, stride)),
    };
  }
  const o = output === 1 ? constantAffine(0) : digitAffine(first);
  const k = digitAffine(red);
  const input = addAffine(addAffine(o, constantAffine(pad)), scaleAffine(k, -dilation));
  return { digits: output === 1 ? [] : [output], terms: kernel, input, div: stride, kernel: k };
}

/** ConvTranspose over any number of spatial dimensions: an exact dot over kernel positions and channels, then bias. */
export const convTranspose: Lower = (context) => {
  const { builder, expressions: e } = context;
  const [x, w] = [context.floatInput(0), context.floatInput(1)];
  const rank = x.shape.length;
  const groups = context.int("group", 1);
  const [channels = 0, members = 0, ...kernel] = w.shape;
  if (rank < 3 || w.shape.length !== rank)
    return context.fail(`data of rank ${rank}, weights of rank ${w.shape.length}`);
  if (x.shape[1] !== channels || channels % groups !== 0)
    return context.fail(`${x.shape[1]} channels, weights [${w.shape.join()}], ${groups} groups`);
  const perGroup = channels / groups;
  const spreads = readSpreads(context, x.shape.slice(2), kernel);
  const shape = [x.shape[0]!, groups * members, ...spreads.map((spread) => spread.output)];

  const input = builder.plain(x);
  // Committed with the reduction contiguous: output channel, kernel positions, input channel.
  const weights = builder.plain(builder.weights(w, [1, ...shape.slice(2).map((_, d) => d + 2), 0]));

  const digits: number[][] = [shape[0] === 1 ? [] : [shape[0]!], [groups, members].filter((radix) => radix > 1)];
  const readings = spreads.map((spread, d) => {
    const reading = readingOf(spread, digits.flat().length, REDUCTION_DIGIT + d);
    digits.push(reading.digits);
    return reading;
  });
  const indices = dimensionIndices(digits);
  const start = digits[0]!.length;
  const group = groups === 1 ? constantAffine(0) : digitAffine(start);
  const member = members === 1 ? constantAffine(0) : digitAffine(start + digits[1]!.length - 1);
  const radices = [...readings.map((reading) => reading.terms), perGroup];
  const radix = radixOf(digits, radices);
  const channel = addAffine(scaleAffine(group, perGroup), digitAffine(REDUCTION_DIGIT + readings.length));

  const a = readAt(e, input, [indices[0]!, channel, ...readings.map((r) => r.input)], radix, 0n, [
    1,
    1,
    ...readings.map((r) => r.div),
  ]);
  // A term outside the kernel is 0 on both sides: an axis of stride 0 only bounds.
  const bounds = readings.map((r, d): ReadAxis => ({ extent: kernel[d]!, stride: 0, index: r.kernel }));
  const b = readAt(e, weights, [channel, member, ...readings.map((r) => r.kernel)], radix);
  const bounded = e.read(a.source, [...a.axes, ...bounds]);
  const expr = e.accumulator(Reduce.dot, x.dtype, x.dtype, radices, bounded, b);
  const product: LazyTensor = { dtype: x.dtype, shape, digits, expr, order: channelsLast(rank) };
  const bias = context.optional(2);
  if (bias === undefined) return [product];
  if (bias.dtype !== x.dtype || bias.shape.length !== 1 || bias.shape[0] !== shape[1])
    return context.fail(`a bias of shape [${bias.shape.join()}] for ${shape[1]} channels`);
  const column = builder.reshape(bias, [shape[1]!, ...readings.map(() => 1)]);
  return [broadcast(context, [product, column], e.add)];
};
