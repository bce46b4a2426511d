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

/** The gradient goes where the greatest element of the window was, which the node's second output says. */
export const maxPool: Rule = (b) => {
  if (b.attributes.int("storage_order", 0) !== 0) return b.refuse("has no gradient rule with storage_order 1");
  const windows = windowsOf(b);
  const [n, channels, ...sizes] = b.shape() as [number, number, ...number[]];
  const outputs = windows.map((w) => w.output);
  const steps = sizes.map((_, d) => elementCount(sizes.slice(d + 1)));
  const offset = (at: readonly number[]): number => at.reduce((sum, value, d) => sum + value * steps[d]!, 0);
  const planes = n * channels;
  const firsts = combinations(windows.map((w) => upTo(w.output).map((o) => o * w.stride - w.padBegin))).map(offset);
  const plane = upTo(planes).map((p) => p * elementCount(sizes));
  const ones = sizes.map(() => 1);
  const integers = (values: readonly number[], shape: readonly number[]): string =>
    b.tensor(values, shape, DType.int64);
  // Where in its window each greatest element lies: [planes, 1, outputs].
  const flat = b.shaped(b.output(1), [planes, 1, ...outputs]);
  const inPlane = b.sub(flat, integers(plane, [planes, 1, ...ones]));
  const inWindow = b.sub(inPlane, integers(firsts, [1, 1, ...outputs]));
  const places = combinations(windows.map((w) => upTo(w.kernel).map((k) => k * w.dilation))).map(offset);
  const isThere = b.op("Equal", inWindow, integers(places, [1, places.length, ...ones]));
  const dy = b.shaped(b.dy, [planes, 1, ...outputs]);
  return [spread(b, b.where(isThere, dy, b.f(0)), windows, places.length)];
};
