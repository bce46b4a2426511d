import { elementCount } from "../../../model/onnx/model.ts";
import type { Backward, Rule } from "../backward.ts";

/** Reshape, Flatten, Squeeze, Unsqueeze. */
export const reshape: Rule = (b) => [b.reshape(b.dy, b.outputShape, b.shape())];

export const transpose: Rule = (b) => {
  const perm = b.attributes.ints("perm") ?? b.shape().map((_, d, all) => all.length - 1 - d);
  return [
    b.transpose(
      b.dy,
      perm.map((_, d) => perm.indexOf(d)),
    ),
  ];
};

export const expand: Rule = (b) => [b.toInput(0, b.dy)];

/** A part of an axis. */
export const part = (b: Backward, x: string, axis: number, start: number, end: number): string =>
  b.op("Slice", x, b.integers(start), b.integers(end), b.integers(axis));

/** Zeros around a tensor: the numbers before each axis, then those behind. */
export const padded = (b: Backward, x: string, pads: readonly number[]): string =>
  pads.every((pad) => pad === 0) ? x : b.op("Pad", x, b.integers(...pads));

export const concat: Rule = (b) => {
  const axis = b.axis(b.attributes.int("axis", 1), b.outputShape.length);
  let start = 0;
  return b.node.inputs.map((_, k) => {
    const end = start + b.shape(k)[axis]!;
    const own = b.if(k, () => part(b, b.dy, axis, start, end));
    start = end;
    return own;
  });
};

export const split: Rule = (b) => {
  const axis = b.axis(b.attributes.int("axis", 0), b.shape().length);
  const parts = b.node.outputs.map((name, k) => b.gradientOf(k) ?? b.zeros(b.shapeOf(name)));
  return [parts.length === 1 ? parts[0] : b.opWith("Concat", { axis }, ...parts)];
};

type Range = { axis: number; start: number; step: number };

/** The ranges of a Slice: by attributes or, from operator set 10 on, by inputs. */
function rangesOf(b: Backward): Range[] {
  const rank = b.shape().length;
  const list = (name: string, input: number): number[] | undefined =>
    b.opset < 10 ? b.attributes.ints(name) : b.integersOf(input);
  const starts = list("starts", 1) ?? [];
  const axes = list("axes", 3) ?? starts.map((_, k) => k);
  const steps = b.opset < 10 ? undefined : b.integersOf(4);
  return starts.map((given, k) => {
    const axis = b.axis(axes[k]!, rank);
    const size = b.shape()[axis]!;
    const step = steps?.[k] ?? 1;
    const start = given < 0 ? given + size : given;
    return { axis, step, start: Math.min(Math.max(start, 0), step < 0 ? size - 1 : size) };
  });
}

/** Places the gradient of one range among zeros. */
function placed(b: Backward, gradient: string, shape: readonly number[], { axis, start, step }: Range): string {
  const size = b.shape()[axis]!;
  const count = shape[axis]!;
  let [own, first] = [gradient, start];
  if (step < 0) {
    own = b.op("Slice", own, b.integers(-1), b.integers(-count - 1), b.integers(axis), b.integers(-1));
    first = start + (count - 1) * step;
  }
  const pads = (extra: number, rank: number, before: number, behind: number): number[] =>
    Array.from({ length: 2 * rank }, (_, d) => (d === extra ? before : d === rank + extra ? behind : 0));
  const stride = Math.abs(step);
  let length = count;
  if (stride > 1) {
    const apart = [...shape.slice(0, axis + 1), 1, ...shape.slice(axis + 1)];
    const rows = padded(b, b.reshape(own, shape, apart), pads(axis + 1, apart.length, 0, stride - 1));
    const wide = apart.map((dim, d) => (d === axis + 1 ? stride : dim));
    length = (count - 1) * stride + 1;
    own = part(
      b,
      b.reshape(
        rows,
        wide,
        shape.map((dim, d) => (d === axis ? count * stride : dim)),
      ),
      axis,
      0,
      length,
    );
  }
  return padded(b, own, pads(axis, shape.length, first, size - first - length));
}

export const slice: Rule = (b) => {
  const shape = [...b.outputShape];
  let gradient = b.dy;
  for (const range of rangesOf(b)) {
    gradient = placed(b, gradient, shape, range);
    shape[range.axis] = b.shape()[range.axis]!;
  }
  return [gradient];
};

/** Returns, for each output position along an axis, the input element shown, in the modes that repeat elements. */
function shownBy(mode: string, size: number, before: number, length: number): number[] {
  const wrap = (at: number, period: number): number => ((at % period) + period) % period;
  return Array.from({ length }, (_, position) => {
    const at = position - before;
    if (mode === "edge") return Math.min(Math.max(at, 0), size - 1);
    if (mode === "wrap") return wrap(at, size);
    const turn = wrap(at, Math.max(1, 2 * size - 2));
    return turn < size ? turn : 2 * size - 2 - turn;
  });
}

/** The numbers before and behind each axis of a Pad. */
function padsOf(b: Backward): { axis: number; before: number; behind: number }[] {
  const rank = b.shape().length;
  const given = (b.opset < 11 && b.node.domain === "" ? b.attributes.ints("pads") : b.integersOf(1)) ?? [];
  const axes = (b.opset < 18 ? undefined : b.integersOf(3)) ?? b.shape().map((_, d) => d);
  return axes.map((value, k) => ({
    axis: b.axis(value, rank),
    before: given[k]!,
    behind: given[k + axes.length]!,
  }));
}

export const pad: Rule = (b) => {
  const mode = b.attributes.string("mode", "constant");
  const rank = b.shape().length;
  let gradient = b.dy;
  if (mode !== "constant") {
    const shape = [...b.outputShape];
    for (const { axis, before, behind } of padsOf(b)) {
      if (before === 0 && behind === 0) continue;
      const size = b.shape()[axis]!;
      // The remaining length after cutting the dimension's first elements off.
      const [first, left] = [Math.max(0, -before), size + Math.min(0, before) + Math.min(0, behind)];
      const shown = shownBy(mode, left, Math.max(0, before), shape[axis]!).map((at) => first + at);
      gradient = b.along(gradient, shape, axis, size, (to, from) => Number(shown[from] === to));
      shape[axis] = size;
    }
    return [gradient];
  }
  const missing = Array.from({ length: 2 * rank }, () => 0);
  for (const { axis, before, behind } of padsOf(b)) {
    const size = b.outputShape[axis]!;
    if (before > 0 || behind > 0) gradient = part(b, gradient, axis, Math.max(0, before), size - Math.max(0, behind));
    [missing[axis], missing[rank + axis]] = [Math.max(0, -before), Math.max(0, -behind)];
  }
  return [padded(b, gradient, missing)];
};

export const tile: Rule = (b) => {
  const repeats = b.integersOf(1)!;
  const apart = b.shape().flatMap((dim, d) => [repeats[d]!, dim]);
  const axes = repeats.map((_, d) => 2 * d);
  return [b.sum(b.reshape(b.dy, b.outputShape, apart), axes, 0)];
};

export const trilu: Rule = (b) => {
  const upper = b.attributes.int("upper", 1);
  return [b.opWith("Trilu", { upper }, b.dy, ...(b.has(1) ? [b.x(1)] : []))];
};

/** Returns the indices counted from the start, each a number from 0 to `size` - 1. */
const fromStart = (b: Backward, indices: string, size: number): string => {
  const type = b.dtype(1);
  return b.where(b.op("Less", indices, b.f(0, type)), b.add(indices, b.f(size, type)), indices);
};

const numbersTo = (b: Backward, size: number): string =>
  b.tensor(
    Array.from({ length: size }, (_, i) => i),
    [size, 1],
    b.dtype(1),
  );

/** A product with a matrix of ones where an index reads a place: the sum over equal indices is exact. */
export const gather: Rule = (b) => {
  const shape = b.shape(0);
  const axis = b.axis(b.attributes.int("axis", 0), shape.length);
  const size = shape[axis]!;
  const count = elementCount(b.shape(1));
  const indices = fromStart(b, b.reshape(b.x(1), b.shape(1), [1, count]), size);
  const reads = b.opWith("Cast", { to: b.dtype() }, b.op("Equal", numbersTo(b, size), indices));
  const [before, behind] = [shape.slice(0, axis), shape.slice(axis + 1)];
  const flat = [elementCount(before), count, elementCount(behind)];
  const product = b.op("MatMul", reads, b.reshape(b.dy, b.outputShape, flat));
  return [b.reshape(product, [flat[0]!, size, flat[2]!], shape)];
};

export const gatherElements: Rule = (b) => {
  const [shape, taken] = [b.shape(0), b.shape(1)];
  const rank = shape.length;
  const axis = b.axis(b.attributes.int("axis", 0), rank);
  const size = shape[axis]!;
  // [..., place, index, ...]: each place against each index along the axis.
  const indices = b.op("Unsqueeze", fromStart(b, b.x(1), size), b.integers(axis));
  const places = b.tensor(
    Array.from({ length: size }, (_, i) => i),
    [size, ...Array.from({ length: rank - axis }, () => 1)],
    b.dtype(1),
  );
  const own = b.where(b.op("Equal", indices, places), b.op("Unsqueeze", b.dy, b.integers(axis)), b.f(0));
  const gradient = b.sum(own, [axis + 1], 0);
  const missing = shape.map((dim, d) => (d === axis ? 0 : dim - taken[d]!));
  return [padded(b, gradient, [...shape.map(() => 0), ...missing])];
};

export const spaceToDepth: Rule = (b) => [
  b.opWith("DepthToSpace", { blocksize: b.attributes.int("blocksize", 1), mode: "DCR" }, b.dy),
];

export const depthToSpace: Rule = (b) => {
  const blocksize = b.attributes.int("blocksize", 1);
  if (b.attributes.string("mode", "DCR") === "DCR") return [b.opWith("SpaceToDepth", { blocksize }, b.dy)];
  const [n, channels, height, width] = b.shape() as [number, number, number, number];
  const apart = b.shaped(b.dy, [n, channels / blocksize ** 2, height, blocksize, width, blocksize]);
  return [b.shaped(b.transpose(apart, [0, 1, 3, 5, 2, 4]), b.shape())];
};

/** The same beginnings are turned round again. */
export const reverseSequence: Rule = (b) => {
  const axes = { batch_axis: b.attributes.int("batch_axis", 1), time_axis: b.attributes.int("time_axis", 0) };
  return [b.opWith("ReverseSequence", axes, b.dy, b.x(1))];
};

/** Cropped elements get gradient 0, added elements are left out. */
export const centerCropPad: Rule = (b) => {
  const [from, to] = [b.shape(), b.outputShape];
  const before = from.map((dim, d) =>
    dim >= to[d]! ? Math.floor((dim - to[d]!) / 2) : -Math.floor((to[d]! - dim) / 2),
  );
  return [padded(b, b.dy, [...before, ...from.map((dim, d) => dim - to[d]! - before[d]!)])];
};

/** Returns the elements passed by the condition, which must be known. */
export const compress: Rule = (b) => {
  const condition = b.integersOf(1)!;
  const kept = condition.flatMap((flag, i) => (flag === 0 ? [] : [i]));
  const flat = !b.attributes.has("axis");
  const shape = flat ? [elementCount(b.shape())] : b.shape();
  const axis = flat ? 0 : b.axis(b.attributes.int("axis", 0), shape.length);
  const gradient = b.along(b.dy, b.outputShape, axis, shape[axis]!, (to, from) => Number(kept[from] === to));
  return [b.reshape(gradient, shape, b.shape())];
};
