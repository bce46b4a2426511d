/** Makers for operators that move elements, with every form for each parameter. */
import { DType } from "../../src/numerics/dtype.ts";
import { elementCount, type TensorData } from "../../src/model/onnx/model.ts";
import { int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { single, type Experiment } from "../onnx/agreement.ts";
import type { AttributeValue } from "../onnx/onnxBuilder.ts";
import { F, type Make } from "../operators/makers.ts";
import type { RandomTensors } from "../random/tensors.ts";
import { mixed, numbers } from "./elementwise.ts";

const { int32, int64, uint8, bool } = DType;

/** Data of some type. */
const data = (r: RandomTensors, shape: readonly number[]): TensorData => {
  const dtype = r.pick([F, F, int32, int64, uint8, bool]);
  return dtype === bool ? r.bool(shape) : numbers(r, dtype, shape);
};

const of = (
  op: string,
  x: TensorData,
  constants: readonly TensorData[],
  attributes: Experiment["nodes"][number]["attributes"],
  opset: number,
): Experiment => single(op, [x], constants, attributes ?? {}, x.dtype, opset);

/** A shape with as many elements. */
function factorised(r: RandomTensors, count: number): number[] {
  const result: number[] = [];
  let rest = count;
  while (rest > 1 && result.length < 4) {
    const divisors = Array.from({ length: rest }, (_, k) => k + 1).filter((d) => rest % d === 0);
    const one = r.pick(divisors);
    result.push(one);
    rest /= one;
  }
  return rest === 1 ? result : [...result, rest];
}

const reshape: Make = (r) => {
  const shape = r.shape(r.int(0, 4), 6);
  const wanted = factorised(r, elementCount(shape));
  const given = wanted.map((dim, d) => (dim === shape[d] && r.int(0, 2) === 0 ? 0 : dim));
  if (given.length > 0 && r.int(0, 1)) given[r.int(0, given.length - 1)] = -1;
  return of("Reshape", data(r, shape), [int64Tensor(given)], {}, r.pick([5, 13, 14]));
};

const transpose: Make = (r) => {
  const rank = r.int(0, 5);
  return of(
    "Transpose",
    data(r, r.shape(rank, 4)),
    [],
    r.int(0, 3) && rank > 0 ? { perm: r.permutation(rank) } : {},
    13,
  );
};

const slice: Make = (r) => {
  const rank = r.int(1, 4);
  const shape = r.shape(rank, 6);
  const axes = r.permutation(rank).slice(0, r.int(1, rank));
  const far = r.pick([2 ** 31 - 1, 2 ** 40]);
  const steps = axes.map(() => r.pick([1, 1, 2, 3, -1, -2]));
  const first = axes.map((axis) => r.int(0, shape[axis]! - 1));
  // An end position behind the first element in the step's direction, counted from either end, or far away.
  const ends = axes.map((axis, k) => {
    const size = shape[axis]!;
    if (r.int(0, 2) === 0) return steps[k]! > 0 ? far : -far;
    if (steps[k]! > 0) return r.pick([r.int(first[k]! + 1, size), r.int(first[k]! + 1, size) - size || far]);
    return first[k] === 0 ? -far : r.pick([r.int(0, first[k]! - 1), r.int(-1, first[k]! - 1) - size]);
  });
  const starts = axes.map((axis, k) => first[k]! - (r.int(0, 1) ? shape[axis]! : 0));
  const named = axes.map((axis) => (r.int(0, 1) ? axis : axis - rank));
  const all = axes.length === rank && r.int(0, 1);
  const lists = all
    ? [starts, ends].map((list) => axes.map((_, d) => list[axes.indexOf(d)]!))
    : [starts, ends, named, ...(r.int(0, 1) ? [steps] : [])];
  return of(
    "Slice",
    data(r, shape),
    lists.map((list) => int64Tensor(list)),
    {},
    r.pick([10, 11, 13]),
  );
};

const pad: Make = (r) => {
  const mode = r.pick(["constant", "constant", "reflect", "edge", "wrap"]);
  const opset = mode === "wrap" ? 19 : r.pick([11, 13, 18, 19]);
  const rank = r.int(1, 4);
  const shape = r.shape(rank, 4).map((dim) => dim + 1);
  const axes = opset >= 18 && r.int(0, 1) ? r.permutation(rank).slice(0, r.int(1, rank)) : undefined;
  const over = axes ?? shape.map((_, d) => d);
  const limit = (d: number): number =>
    mode === "constant" || mode === "edge" ? 3 : shape[over[d % over.length]!]! - 1;
  const pads = [...over, ...over].map((_, d) => r.int(mode === "constant" ? -1 : 0, limit(d)));
  const dtype = r.pick([F, int32, int64]);
  const value = mode === "constant" && r.int(0, 1) ? numbers(r, dtype, []) : undefined;
  const x = numbers(r, dtype, shape);
  const names = ["x", "p", value ? "v" : "", axes ? "a" : ""];
  while (names.at(-1) === "") names.pop();
  return {
    opset,
    operands: { x },
    initializers: { p: int64Tensor(pads), ...(value ? { v: value } : {}), ...(axes ? { a: int64Tensor(axes) } : {}) },
    nodes: [{ op: "Pad", inputs: names, outputs: ["y"], attributes: { mode } }],
    outputs: { y: dtype },
  };
};

const split: Make = (r) => {
  const rank = r.int(1, 4);
  const axis = r.int(0, rank - 1);
  const parts = r.int(1, 4);
  const opset = r.pick([11, 13, 18]);
  const how = r.pick(["sizes", "equal"]);
  const sizes = Array.from({ length: parts }, () => r.int(1, 3));
  const each = r.int(1, 3);
  // From operator set 18 on the last part may be smaller.
  const size =
    how === "sizes"
      ? sizes.reduce((a, b) => a + b, 0)
      : each * parts - (opset >= 18 && parts > 1 && each > 1 ? r.int(0, 1) : 0);
  const x = data(
    r,
    r.shape(rank, 4).map((dim, d) => (d === axis ? size : dim)),
  );
  const outputs = Array.from({ length: parts }, (_, k) => `y${k}`);
  const attributes: Record<string, AttributeValue> = { axis: r.int(0, 1) ? axis : axis - rank };
  if (how === "sizes" && opset < 13) attributes["split"] = sizes;
  if (how === "equal" && opset >= 18) attributes["num_outputs"] = parts;
  const asInput = how === "sizes" && opset >= 13;
  return {
    opset,
    operands: { x },
    ...(asInput ? { initializers: { s: int64Tensor(sizes) } } : {}),
    nodes: [{ op: "Split", inputs: asInput ? ["x", "s"] : ["x"], outputs, attributes }],
    outputs: Object.fromEntries(outputs.map((name) => [name, x.dtype])),
  };
};

const concat: Make = (r) => {
  const rank = r.int(1, 4);
  const axis = r.int(0, rank - 1);
  const shape = r.shape(rank, 3);
  const dtype = r.pick([F, int64]);
  const parts = Array.from({ length: r.int(1, 5) }, () =>
    numbers(
      r,
      dtype,
      shape.map((dim, d) => (d === axis ? r.int(1, 3) : dim)),
    ),
  );
  return mixed(r, "Concat", parts, { axis: r.int(0, 1) ? axis : axis - rank }, { y: dtype }, r.pick([11, 13]));
};

const gather: Make = (r) => {
  const op = r.pick(["Gather", "GatherElements", "GatherND"]);
  const rank = r.int(1, 4);
  const shape = r.shape(rank, 4);
  const axis = r.int(0, rank - 1);
  const size = shape[axis]!;
  const x = data(r, shape);
  const type = r.pick([int64, int32]);
  if (op === "Gather")
    return mixed(
      r,
      op,
      [x, r.integer(type, r.shape(r.int(0, 3), 3), -size, size - 1)],
      { axis },
      { y: x.dtype },
      r.pick([11, 13]),
    );
  if (op === "GatherElements") {
    const own = shape.map((dim, d) => (d === axis ? r.int(1, 5) : r.int(1, dim)));
    return mixed(
      r,
      op,
      [x, r.integer(type, own, -size, size - 1)],
      { axis: axis - rank },
      { y: x.dtype },
      r.pick([11, 13]),
    );
  }
  const batch = r.int(0, rank - 1);
  const depth = r.int(1, rank - batch);
  const shortest = Math.min(...shape.slice(batch, batch + depth));
  const indices = r.integer(
    int64,
    [...shape.slice(0, batch), ...r.shape(r.int(0, 2), 3), depth],
    -shortest,
    shortest - 1,
  );
  return mixed(r, op, [x, indices], { batch_dims: batch }, { y: x.dtype }, r.pick([12, 13]));
};

const repeat: Make = (r) => {
  const rank = r.int(0, 4);
  const shape = r.shape(rank, 3);
  if (r.int(0, 1)) return of("Tile", data(r, shape), [int64Tensor(shape.map(() => r.int(1, 3)))], {}, r.pick([6, 13]));
  const own = shape.map((dim) => (r.int(0, 1) ? 1 : dim));
  const wanted = [...r.shape(r.int(0, 2), 2), ...shape].map((dim, d, all) =>
    d < all.length - own.length || own[d - all.length + own.length] === 1 ? dim : r.pick([dim, 1]),
  );
  const shorter = r.int(0, 3) === 0 ? wanted.slice(r.int(0, wanted.length)) : wanted;
  return of("Expand", data(r, own), [int64Tensor(shorter)], {}, r.pick([8, 13]));
};

const dimensions: Make = (r) => {
  const op = r.pick(["Squeeze", "Unsqueeze", "Flatten"]);
  const opset = r.pick([11, 13]);
  const rank = r.int(0, 4);
  const shape = r.shape(rank, 3);
  if (op === "Flatten") return of(op, data(r, shape), [], { axis: r.int(-rank, rank) }, opset);
  const count = r.int(1, 2);
  const places = r.permutation(rank + count).slice(0, count);
  const named = places.map((p) => (r.int(0, 1) ? p : p - rank - count));
  const rest = [...shape];
  const wide = Array.from({ length: rank + count }, (_, d) => (places.includes(d) ? 1 : rest.shift()!));
  const x = data(r, op === "Squeeze" ? wide : shape);
  if (opset < 13) return of(op, x, [], { axes: named }, opset);
  return of(op, x, [int64Tensor(named)], {}, opset);
};

const blocks: Make = (r) => {
  const [n, c, h, w, block] = [r.int(1, 2), r.int(1, 2), r.int(1, 3), r.int(1, 3), r.int(1, 3)];
  if (r.int(0, 1)) return of("SpaceToDepth", r.float([n, c, h * block, w * block]), [], { blocksize: block }, 13);
  const mode = r.pick(["DCR", "CRD"]);
  return of("DepthToSpace", r.float([n, c * block * block, h, w]), [], { blocksize: block, mode }, r.pick([11, 13]));
};

const oneHot: Make = (r) => {
  const rank = r.int(1, 3);
  const depth = r.int(1, 4);
  const indices = r.integer(int64, r.shape(rank, 3), -5, 5);
  const attributes: Record<string, number> = r.int(0, 1)
    ? { axis: r.int(-indices.shape.length - 1, indices.shape.length) }
    : {};
  const values = r.pick([r.float([2]), r.integer(int64, [2], -3, 3)]);
  const made = single(
    "OneHot",
    [indices],
    [int64Tensor([depth], r.pick([[], [1]])), values],
    attributes,
    values.dtype,
    11,
  );
  return made;
};

const ranked: Make = (r) => {
  const rank = r.int(1, 4);
  const shape = r.shape(rank, 4);
  const axis = r.int(0, rank - 1);
  const x = numbers(r, r.pick([F, int32, int64]), shape, -2, 2);
  const attributes = { axis: r.int(0, 1) ? axis : axis - rank, largest: r.int(0, 1), sorted: 1 };
  const made = single("TopK", [x], [int64Tensor([r.int(1, shape[axis]!)])], attributes, x.dtype, 11);
  const [node] = made.nodes;
  return { ...made, nodes: [{ ...node!, outputs: ["y", "at"] }], outputs: { y: x.dtype, at: int64 } };
};

const triangle: Make = (r) => {
  const shape = [...r.shape(r.int(0, 2), 3), r.int(1, 5), r.int(1, 5)];
  const x = numbers(r, r.pick([F, int64, int32]), shape);
  const upper: Record<string, number> = r.int(0, 2) ? { upper: r.int(0, 1) } : {};
  return of("Trilu", x, r.int(0, 2) ? [int64Tensor([r.int(-6, 6)], [])] : [], upper, 14);
};

/** By name. */
export const MOVEMENT_FUZZ: Record<string, Make> = {
  reshape,
  transpose,
  slice,
  pad,
  split,
  concat,
  gather,
  repeat,
  dimensions,
  blocks,
  oneHot,
  ranked,
  triangle,
};
