import { DType } from "../../../numerics/dtype.ts";
import { elementCount } from "../../../model/onnx/model.ts";
import { windowCounts } from "../../operators/pool.ts";
import { readWindows, type Window } from "../../operators/window.ts";
import type { Backward, Rule } from "../backward.ts";
import { spreading } from "./convolution.ts";

const windowsOf = (b: Backward): Window[] => readWindows(b.attributes, b.shape().slice(2));

/** Returns all combinations with one number per spatial dimension, the last dimension fastest. */
const combinations = <T>(lists: readonly (readonly T[])[]): T[][] =>
  lists.reduce<T[][]>((all, list) => all.flatMap((head) => list.map((each) => [...head, each])), [[]]);

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** Puts [planes, positions of the window, outputs] back onto the input, position by position. */
function spread(b: Backward, x: string, windows: readonly Window[], positions: number): string {
  const kernel = windows.map((w) => w.kernel);
  const size = elementCount(kernel);
  // One position stands for the whole window, or each position only for itself.
  const isOn = upTo(positions * size).map((i) => (positions === 1 || i % size === Math.floor(i / size) ? 1 : 0));
  const weights = b.tensor(isOn, [positions, 1, ...kernel]);
  const planes = b.opWith("ConvTranspose", spreading(windows), x, weights);
  return b.shaped(planes, b.shape());
}

export const averagePool: Rule = (b) => {
  const windows = windowsOf(b);
  const includePad = b.attributes.int("count_include_pad", 0) !== 0;
  const counts = combinations(windows.map((w) => windowCounts(b.attributes, w, includePad)));
  const outputs = windows.map((w) => w.output);
  const divisor = b.tensor(counts.map(elementCount), [1, 1, ...outputs]);
  const planes = b.shape()[0]! * b.shape()[1]!;
  return [spread(b, b.shaped(b.div(b.dy, divisor), [planes, 1, ...outputs]), windows, 1)];
};

/** The attributes with which a node reads the given windows. */
function reading(windows: readonly Window[]): Record<string, number[]> {
  // In ceil_mode the last window may reach beyond the padding.
  const ends = windows.map((w) =>
    Math.max(w.padEnd, w.stride * (w.output - 1) + w.dilation * (w.kernel - 1) + 1 - w.padBegin - w.input),
  );
  return {
    kernel_shape: windows.map((w) => w.kernel),
    strides: windows.map((w) => w.stride),
    dilations: windows.map((w) => w.dilation),
    pads: [...windows.map((w) => w.padBegin), ...ends],
  };
}

/** The gradient goes to the first greatest element of each window. */
export const maxPool: Rule = (b) => {
  if (b.attributes.int("storage_order", 0) !== 0) return b.refuse("has no gradient rule with storage_order 1");
  const windows = windowsOf(b);
  const outputs = windows.map((w) => w.output);
  const planes = b.shape()[0]! * b.shape()[1]!;
  const size = elementCount(windows.map((w) => w.kernel));
  const place = b.shaped(b.own("WindowMaximum", reading(windows), b.x()), [planes, 1, ...outputs]);
  const places = b.tensor(upTo(size), [1, size, ...windows.map(() => 1)], DType.int64);
  const dy = b.shaped(b.dy, [planes, 1, ...outputs]);
  return [spread(b, b.where(b.op("Equal", place, places), dy, b.f(0)), windows, size)];
};
