import { readWindows, type Window } from "../../operators/window.ts";
import type { Backward, Rule } from "../backward.ts";

/** The attributes with which a ConvTranspose puts windows back onto what they were read from. */
export function spreading(windows: readonly Window[], group = 1): Record<string, number | number[]> {
  // The length by which the last window exceeds the input; negative: the length of the input's rest.
  const beyond = windows.map((w) => w.stride * (w.output - 1) + w.dilation * (w.kernel - 1) + 1 - w.padBegin - w.input);
  return {
    group,
    strides: windows.map((w) => w.stride),
    dilations: windows.map((w) => w.dilation),
    pads: [...windows.map((w) => w.padBegin), ...beyond.map((size) => Math.max(0, size))],
    output_padding: beyond.map((size) => Math.max(0, -size)),
  };
}

/**
 * The gradient of a convolution's weights, [outputs, channels per group, kernel]. The gradient is a convolution: the
 * input convolved with the output's gradient, where batch and channels change places, and strides and dilations.
 */
function weightGradient(
  b: Backward,
  read: { name: string; shape: readonly number[] },
  given: { name: string; shape: readonly number[] },
  windows: readonly Window[],
  groups: number,
): string {
  const [n, channels, ...sizes] = read.shape as [number, number, ...number[]];
  const [, outputs, ...positions] = given.shape as [number, number, ...number[]];
  const rest = sizes.map((_, d) => d + 3);
  const [perGroup, members] = [channels / groups, outputs / groups];
  let [x, dy] = [read.name, given.name];
  // The input beyond the last window is not read.
  const reach = windows.map((w) => w.stride * (w.output - 1) + 1 + w.dilation * (w.kernel - 1) - w.padBegin);
  const used = sizes.map((size, d) => Math.min(size, reach[d]!));
  used.forEach((size, d) => {
    if (size < sizes[d]!) x = b.op("Slice", x, b.integers(0), b.integers(size), b.integers(d + 2));
  });
  const swap = (
    name: string,
    [batch, all, ...spatial]: number[],
    per: number,
    perm: number[],
    to: number[],
  ): string => {
    const apart = b.reshape(name, [batch!, all!, ...spatial], [batch!, groups, per, ...spatial]);
    return b.shaped(b.transpose(apart, [...perm, ...rest]), [...to, ...spatial]);
  };
  if (groups === 1) {
    const perm = [1, 0, ...sizes.map((_, d) => d + 2)];
    [x, dy] = [b.transpose(x, perm), b.transpose(dy, perm)];
  } else {
    x = swap(x, [n, channels, ...used], perGroup, [2, 1, 0], [perGroup, groups * n]);
    dy = swap(dy, [n, outputs, ...positions], members, [1, 2, 0], [outputs, n]);
  }
  const attributes = {
    group: groups,
    strides: windows.map((w) => w.dilation),
    dilations: windows.map((w) => w.stride),
    pads: [...windows.map((w) => w.padBegin), ...windows.map((_, d) => reach[d]! - used[d]!)],
  };
  const product = b.opWith("Conv", attributes, x, dy);
  return b.transpose(product, [1, 0, ...sizes.map((_, d) => d + 2)]);
}

const channelSum = (b: Backward): string =>
  b.sum(
    b.dy,
    b.outputShape.flatMap((_, d) => (d === 1 ? [] : [d])),
    0,
  );

export const conv: Rule = (b) => {
  const windows = readWindows(b.attributes, b.shape().slice(2), b.shape(1).slice(2));
  const groups = b.attributes.int("group", 1);
  return [
    b.if(0, () => b.opWith("ConvTranspose", spreading(windows, groups), b.dy, b.x(1))),
    b.if(1, () =>
      weightGradient(b, { name: b.x(0), shape: b.shape(0) }, { name: b.dy, shape: b.outputShape }, windows, groups),
    ),
    b.if(2, () => channelSum(b)),
  ];
};

/** The convolution whose gradient it is. */
export const convTranspose: Rule = (b) => {
  const { attributes } = b;
  const sizes = b.outputShape.slice(2);
  const kernel = b.shape(1).slice(2);
  if (attributes.string("auto_pad", "NOTSET") !== "NOTSET" || attributes.has("output_shape"))
    return b.refuse("has a gradient rule only with pads: without auto_pad and output_shape");
  const fill = (value: number): number[] => sizes.map(() => value);
  const strides = attributes.intsLike("strides", fill(1));
  const dilations = attributes.intsLike("dilations", fill(1));
  const pads = attributes.intsLike("pads", [...fill(0), ...fill(0)]);
  const windows = sizes.map((input, d): Window => {
    const [stride, dilation] = [strides[d]!, dilations[d]!];
    const [padBegin, padEnd] = [pads[d]!, pads[d + sizes.length]!];
    return { input, output: b.shape().at(d + 2)!, kernel: kernel[d]!, stride, dilation, padBegin, padEnd };
  });
  const groups = attributes.int("group", 1);
  return [
    b.if(0, () => {
      const own = { group: groups, strides: [...strides], dilations: [...dilations], pads: [...pads] };
      return b.opWith("Conv", own, b.dy, b.x(1));
    }),
    b.if(1, () =>
      weightGradient(b, { name: b.dy, shape: b.outputShape }, { name: b.x(0), shape: b.shape(0) }, windows, groups),
    ),
    b.if(2, () => channelSum(b)),
  ];
};
