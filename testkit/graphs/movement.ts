import { DType } from "../../src/numerics/dtype.ts";
import { elementCount } from "../../src/model/onnx/model.ts";
import type { Choices } from "./choices.ts";
import { F, FLOATS, INTEGERS } from "./elementwise.ts";
import type { Recipe, Value } from "./graph.ts";

const ANY = [...FLOATS, DType.int64, DType.int32, DType.uint8, DType.bool];
const INDICES = [DType.int64, DType.int32] as const;

export const transpose: Recipe = (g, c) => {
  const x = g.any(c, ANY, 1);
  const perm = c.permutation(x.shape.length);
  g.node("Transpose", [x], [[x.dtype, perm.map((dim) => x.shape[dim]!)]], { perm });
};

/** The same number of elements in another shape. */
function refactored(c: Choices, count: number): number[] {
  const shape: number[] = [];
  let rest = count;
  for (let k = 0; k < 3 && rest > 1; k++) {
    const divisors = Array.from({ length: rest }, (_, d) => d + 1).filter((d) => rest % d === 0);
    shape.push(c.pick(divisors));
    rest /= shape.at(-1)!;
  }
  return [...shape, rest];
}

export const reshape: Recipe = (g, c) => {
  const x = g.any(c, ANY);
  const shape = refactored(c, elementCount(x.shape));
  g.node("Reshape", [x, g.integers(shape)], [[x.dtype, shape]]);
};

export const slice: Recipe = (g, c) => {
  const x = g.any(c, ANY, 1);
  const axes = c.axes(x.shape.length);
  const shape = [...x.shape];
  const starts: number[] = [];
  const ends: number[] = [];
  const steps: number[] = [];
  for (const axis of axes) {
    const dim = x.shape[axis]!;
    const step = c.pick([1, 2, -1, -2]);
    const from = step > 0 ? c.below(dim) : dim - 1 - c.below(dim);
    starts.push(from);
    ends.push(step > 0 ? dim : -dim - 1);
    steps.push(step);
    shape[axis] = step > 0 ? Math.ceil((dim - from) / step) : Math.floor(from / -step) + 1;
  }
  g.node("Slice", [x, ...[starts, ends, axes, steps].map((list) => g.integers(list))], [[x.dtype, shape]]);
};

export const pad: Recipe = (g, c) => {
  const x = g.any(c, [DType.float32, DType.int64, DType.int32], 1);
  const mode = c.pick(["constant", "edge", "reflect"]);
  const limit = (dim: number): number => (mode === "reflect" ? Math.min(2, dim - 1) : 2);
  const before = x.shape.map((dim) => c.int(0, limit(dim)));
  const after = x.shape.map((dim) => c.int(0, limit(dim)));
  const shape = x.shape.map((dim, d) => dim + before[d]! + after[d]!);
  const value = mode === "constant" && c.flag() ? [g.constant(c, x.dtype, [])] : [];
  g.node("Pad", [x, g.integers([...before, ...after]), ...value], [[x.dtype, shape]], { mode });
};

export const concat: Recipe = (g, c) => {
  const x = g.any(c, ANY, 1);
  const axis = c.below(x.shape.length);
  const fits = (shape: readonly number[]): boolean =>
    shape.length === x.shape.length && shape.every((dim, d) => d === axis || dim === x.shape[d]);
  const parts = [x, ...Array.from({ length: c.int(1, 3) }, () => g.pick(c, [x.dtype], fits, () => [...x.shape]))];
  const length = parts.reduce((sum, { shape }) => sum + shape[axis]!, 0);
  g.node("Concat", parts, [[x.dtype, x.shape.map((dim, d) => (d === axis ? length : dim))]], { axis });
};

export const split: Recipe = (g, c) => {
  const x = g.any(c, ANY, 1);
  const axis = c.below(x.shape.length);
  const first = c.int(1, x.shape[axis]!);
  const sizes = [first, x.shape[axis]! - first].filter((size) => size > 0);
  const outputs = sizes.map((size) => [x.dtype, x.shape.map((dim, d) => (d === axis ? size : dim))] as const);
  if (g.opset >= 13) g.node("Split", [x, g.integers(sizes)], outputs, { axis });
  else g.node("Split", [x], outputs, { axis, split: sizes });
};

export const expand: Recipe = (g, c) => {
  const x = g.any(c, ANY, 0, 3);
  const shape = [...(c.flag() ? [c.int(1, 3)] : []), ...x.shape.map((dim) => (dim === 1 ? c.int(1, 4) : dim))];
  if (shape.length > 0) g.node("Expand", [x, g.integers(shape)], [[x.dtype, shape]]);
};

export const tile: Recipe = (g, c) => {
  const x = g.any(c, ANY, 1);
  const repeats = x.shape.map(() => c.int(1, 3));
  g.node("Tile", [x, g.integers(repeats)], [[x.dtype, x.shape.map((dim, d) => dim * repeats[d]!)]]);
};

export const gather: Recipe = (g, c) => {
  const x = g.any(c, ANY, 1);
  const axis = c.below(x.shape.length);
  const own = c.shape(c.below(3), 4);
  const indices = g.input(c, c.pick(INDICES), own, x.shape[axis]);
  g.node("Gather", [x, indices], [[x.dtype, [...x.shape.slice(0, axis), ...own, ...x.shape.slice(axis + 1)]]], {
    axis,
  });
};

export const gatherElements: Recipe = (g, c) => {
  const x = g.any(c, ANY, 1);
  const axis = c.below(x.shape.length);
  const shape = x.shape.map((dim, d) => (d === axis ? c.int(1, 6) : c.int(1, dim)));
  g.node("GatherElements", [x, g.input(c, c.pick(INDICES), shape, x.shape[axis])], [[x.dtype, shape]], { axis });
};

export const gatherNd: Recipe = (g, c) => {
  const x = g.any(c, ANY, 1);
  const depth = c.int(1, x.shape.length);
  const outer = c.shape(c.int(1, 2), 4);
  const indices = g.input(c, DType.int64, [...outer, depth], Math.min(...x.shape.slice(0, depth)));
  g.node("GatherND", [x, indices], [[x.dtype, [...outer, ...x.shape.slice(depth)]]]);
};

const reductionOf = (g: { opset: number }, c: Choices): string =>
  c.pick(["none", ...(g.opset >= 16 ? ["add"] : []), ...(g.opset >= 18 ? ["max", "min"] : [])]);
const SUMMED = [...FLOATS, DType.int64, DType.int32];

const scatterElements: Recipe = (g, c) => {
  const x = g.any(c, SUMMED, 1);
  const axis = c.below(x.shape.length);
  const shape = x.shape.map((dim, d) => (d === axis ? c.int(1, 6) : c.int(1, dim)));
  const indices = g.input(c, DType.int64, shape, x.shape[axis]);
  const updates = g.pick(
    c,
    [x.dtype],
    (own) => own.join() === shape.join(),
    () => shape,
  );
  const reduction = reductionOf(g, c);
  g.node("ScatterElements", [x, indices, updates], [[x.dtype, x.shape]], {
    axis,
    ...(reduction === "none" ? {} : { reduction }),
  });
};

const scatterNd: Recipe = (g, c) => {
  const x = g.any(c, SUMMED, 1);
  const depth = c.int(1, x.shape.length);
  const outer = c.shape(1, 6);
  const indices = g.input(c, DType.int64, [...outer, depth], Math.min(...x.shape.slice(0, depth)));
  const updates = g.input(c, x.dtype, [...outer, ...x.shape.slice(depth)]);
  const reduction = reductionOf(g, c);
  g.node("ScatterND", [x, indices, updates], [[x.dtype, x.shape]], reduction === "none" ? {} : { reduction });
};

const oneHot: Recipe = (g, c) => {
  const x = g.any(c, INTEGERS.slice(0, 3), 0, 2);
  const depth = c.int(1, 5);
  const values = g.constant(c, DType.float32, [2]);
  g.node("OneHot", [x, g.integers([depth]), values], [[DType.float32, [...x.shape, depth]]]);
};

const trilu: Recipe = (g, c) => {
  const x = g.any(c, [DType.float32, DType.int64], 2);
  if (g.opset >= 14) g.node("Trilu", [x, g.integers([c.int(-2, 2)])], [[x.dtype, x.shape]], { upper: c.below(2) });
};

export const unsqueeze: Recipe = (g, c) => {
  const x = g.any(c, ANY, 0, 3);
  const axis = c.below(x.shape.length + 1);
  const shape = [...x.shape.slice(0, axis), 1, ...x.shape.slice(axis)];
  if (g.opset >= 13) g.node("Unsqueeze", [x, g.integers([axis])], [[x.dtype, shape]]);
  else g.node("Unsqueeze", [x], [[x.dtype, shape]], { axes: [axis] });
};

const depth: Recipe = (g, c) => {
  const [n, k, h, w] = c.shape(4, 3) as [number, number, number, number];
  const deep = [n, 4 * k, h, w];
  const wide = [n, k, 2 * h, 2 * w];
  const [op, from, to] = c.flag() ? (["DepthToSpace", deep, wide] as const) : (["SpaceToDepth", wide, deep] as const);
  const x = g.pick(
    c,
    F,
    (shape) => shape.join() === from.join(),
    () => from,
  );
  g.node(op, [x], [[x.dtype, to]], {
    blocksize: 2,
    ...(op === "DepthToSpace" ? { mode: c.pick(["DCR", "CRD"]) } : {}),
  });
};

const resize: Recipe = (g, c) => {
  const x = g.pick(
    c,
    F,
    (shape) => shape.length === 4,
    () => [1, 2, c.int(1, 4), c.int(1, 4)],
  );
  const sizes = [x.shape[0]!, x.shape[1]!, c.int(1, 6), c.int(1, 6)];
  const mode = c.pick(["nearest", "linear"]);
  const coordinate_transformation_mode = c.pick(["half_pixel", "asymmetric", "align_corners"]);
  g.node("Resize", [x, undefined as Value | undefined, undefined, g.integers(sizes)], [[x.dtype, sizes]], {
    mode,
    coordinate_transformation_mode,
  });
};

/** Data movement, gathers and scatters. */
export const MOVEMENT: readonly Recipe[] = [
  transpose,
  reshape,
  slice,
  concat,
  pad,
  split,
  expand,
  tile,
  gather,
  gatherElements,
  gatherNd,
  scatterElements,
  scatterNd,
  oneHot,
  trilu,
  unsqueeze,
  depth,
  resize,
];
