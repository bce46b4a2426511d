import { elementCount } from "../../../model/onnx/model.ts";
import { readWindows } from "../../operators/window.ts";
import type { Backward, Rule } from "../backward.ts";

/** Returns the square root, or the p-th root, for sums of powers; the gradient is 0 where the sum is 0. */
function rootOf(b: Backward, sum: string, p: number): string {
  if (p === 1) return sum;
  const isZero = b.op("Equal", sum, b.f(0));
  const safe = b.where(isZero, b.f(1), sum);
  return b.where(isZero, b.f(0), p === 2 ? b.op("Sqrt", safe) : b.op("Pow", safe, b.f(1 / p)));
}

/** |x|^p. */
const power = (b: Backward, x: string, p: number): string =>
  p === 2 ? b.mul(x, x) : p === 1 ? b.op("Abs", x) : b.op("Pow", b.op("Abs", x), b.f(p));

/** x / norm along an axis, and 0 where the norm is 0. */
export const lpNormalization: Rule = (b) => {
  const axis = b.axis(b.attributes.int("axis", -1), b.shape().length);
  const p = b.attributes.int("p", 2);
  const norm = rootOf(b, b.sum(power(b, b.x(), p), [axis], 1), p);
  const isZero = b.op("Equal", norm, b.f(0));
  return [b.where(isZero, b.f(0), b.div(b.x(), b.where(isZero, b.f(1), norm)))];
};

/** d / ((root mean square of d) + 1e-9), d = x - mean. */
export const meanVarianceNormalization: Rule = (b) => {
  const given = b.attributes.ints("axes") ?? [0, 2, 3];
  const axes = [...new Set(given.map((axis) => b.axis(axis, b.shape().length)))];
  const d = b.sub(b.x(), b.mean(b.x(), axes));
  return [b.div(d, b.add(b.op("Sqrt", b.mean(b.mul(d, d), axes)), b.f(1e-9)))];
};

/** x / (bias + alpha / size * the neighbouring channels' sum of squares)^beta. */
export const lrn: Rule = (b) => {
  const [batch, channels, ...spatial] = b.shape() as [number, number, ...number[]];
  const size = b.attributes.int("size", 1);
  const [before, behind] = [Math.floor((size - 1) / 2), Math.ceil((size - 1) / 2)];
  const flat = [batch, channels, elementCount(spatial)];
  const sums = b.along(b.shaped(b.mul(b.x(), b.x()), flat), flat, 1, channels, (to, from) =>
    Number(from >= to - before && from <= to + behind),
  );
  const [alpha, beta] = [b.attributes.float("alpha", 1e-4), b.attributes.float("beta", 0.75)];
  const base = b.add(b.f(b.attributes.float("bias", 1)), b.mul(b.f(alpha / size), sums));
  return [b.div(b.x(), b.shaped(b.op("Pow", base, b.f(beta)), b.shape()))];
};

/** The p-th root of the sum of |x|^p over the spatial dimensions. */
export const globalLpPool: Rule = (b) => {
  const p = b.attributes.int("p", 2);
  const spatial = b.shape().flatMap((_, d) => (d < 2 ? [] : [d]));
  return [rootOf(b, b.sum(power(b, b.x(), p), spatial, 1), p)];
};

/** The same over windows: the sums are a convolution with ones. */
export const lpPool: Rule = (b) => {
  const windows = readWindows(b.attributes, b.shape().slice(2));
  const p = b.attributes.int("p", 2);
  const planes = [b.shape()[0]! * b.shape()[1]!, 1, ...b.shape().slice(2)];
  const kernel = [1, 1, ...windows.map((w) => w.kernel)];
  const reach = windows.map((w) => w.stride * (w.output - 1) + w.dilation * (w.kernel - 1) + 1 - w.padBegin - w.input);
  const sums = b.opWith(
    "Conv",
    {
      strides: windows.map((w) => w.stride),
      dilations: windows.map((w) => w.dilation),
      pads: [...windows.map((w) => w.padBegin), ...reach.map((size) => Math.max(0, size))],
    },
    b.shaped(power(b, b.x(), p), planes),
    b.expand(b.f(1), kernel),
  );
  return [rootOf(b, b.shaped(sums, b.outputShape), p)];
};
