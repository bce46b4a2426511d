import type { ArgumentDecision, Decision, RoundingDecision, TopKDecision } from "./decision.ts";
import { MarginError } from "./errors.ts";

/** A deciding tensor from an execution, row-major. */
export type DecidingTensor = { dims: readonly number[]; data: Float32Array | Float64Array };

/**
 * The distance between a decision and another outcome, in units of the deciding tensors.
 *
 * - `margin`: 0 if any deciding value is NaN or infinite; Infinity if no other outcome exists.
 * - `scale`: the largest magnitude among all deciding values; 0 without any.
 */
export type Margin = { margin: number; scale: number };

/**
 * Reads a decision's margin: the minimum over all rows or elements.
 *
 * - argmax: the largest value of a row minus the second largest
 * - top-k: the minimum difference of neighbours among the k + 1 largest values of a row
 * - comparison: the distance of the two values
 * - rounding: the distance to the nearest boundary between two results; 0 outside the range of the integer type
 * - sign: the distance to 0
 *
 * @param tensors The values from one execution, by graph name.
 * @throws MarginError for a deciding tensor that is missing or has the wrong shape
 */
export function readMargin(decision: Decision, tensors: ReadonlyMap<string, DecidingTensor>): Margin {
  const all = decision.tensors.map((name) => tensorOf(decision, name, tensors));
  const scale = largestMagnitude(all);
  if (scale === Infinity) return { margin: 0, scale };
  const [first] = all as [DecidingTensor];
  switch (decision.kind) {
    case "argmax":
      return { margin: gaps(decision, first, 1), scale };
    case "topk":
      return { margin: gaps(decision, first, decision.k), scale };
    case "comparison":
      return { margin: minDistance(decision, first, all[1] ?? first), scale };
    case "rounding":
      return { margin: min(first.data, distanceToBoundary(decision)), scale };
    case "token":
      if (decision.drawn) throw new MarginError(`node ${decision.node}: of tokens that may be drawn no margin is read`);
      return { margin: gaps({ ...decision, kind: "argmax", axis: -1, largest: true }, first, 1), scale };
    case "sign":
      return { margin: min(first.data, Math.abs), scale };
  }
}

function tensorOf({ node }: Decision, name: string, tensors: ReadonlyMap<string, DecidingTensor>): DecidingTensor {
  const tensor = tensors.get(name);
  if (tensor === undefined) throw new MarginError(`the value "${name}", which decides node ${node}, is missing`);
  const { dims, data } = tensor;
  if (dims.reduce((product, dim) => product * dim, 1) !== data.length)
    throw new MarginError(`the value "${name}" has ${data.length} elements, its shape is [${dims.join(", ")}]`);
  return tensor;
}

/** The largest magnitude; Infinity if any value is NaN or infinite. */
function largestMagnitude(tensors: readonly DecidingTensor[]): number {
  let largest = 0;
  for (const { data } of tensors)
    for (let i = 0; i < data.length; i++) {
      const magnitude = Math.abs(data[i]!);
      if (!(magnitude < Infinity)) return Infinity;
      if (magnitude > largest) largest = magnitude;
    }
  return largest;
}

function min(data: DecidingTensor["data"], distance: (value: number) => number): number {
  let margin = Infinity;
  for (const value of data) margin = Math.min(margin, distance(value));
  return margin;
}

/** The least difference of neighbours among the k + 1 largest (or least) values of a row, of all rows along an axis. */
function gaps(decision: ArgumentDecision | TopKDecision, { dims, data }: DecidingTensor, k: number): number {
  const axis = axisOf(decision, dims);
  const extent = dims[axis] ?? 1;
  const stride = dims.slice(axis + 1).reduce((product, dim) => product * dim, 1);
  const sign = decision.largest ? 1 : -1;
  let margin = Infinity;
  /** The best values of a row, best first. */
  const best = new Float64Array(Math.min(k + 1, extent));
  for (let start = 0; start < data.length; start += stride * extent)
    for (let inner = 0; inner < stride; inner++) {
      best.fill(-Infinity);
      let last = -Infinity;
      for (let i = 0, at = start + inner; i < extent; i++, at += stride) {
        const value = sign * data[at]!;
        // Few of a long row are among the best.
        if (value > last) last = insert(best, value);
      }
      for (let i = 1; i < best.length; i++) margin = Math.min(margin, best[i - 1]! - best[i]!);
    }
  return margin;
}

/** @throws MarginError */
function axisOf({ node, axis, tensors }: ArgumentDecision | TopKDecision, dims: readonly number[]): number {
  const rank = Math.max(dims.length, 1);
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  throw new MarginError(`node ${node} decides along axis ${axis}, "${tensors[0]}" has the shape [${dims.join(", ")}]`);
}

/** Inserts a value into a sorted list, largest first, and drops the smallest value. @returns the new smallest value */
function insert(best: Float64Array, value: number): number {
  let at = best.length - 1;
  for (; at > 0 && best[at - 1]! < value; at--) best[at] = best[at - 1]!;
  best[at] = value;
  return best[best.length - 1]!;
}

/**
 * Returns the minimum distance between elements of two broadcast tensors. @throws MarginError if the tensors do not
 * broadcast
 */
function minDistance({ node, tensors }: Decision, a: DecidingTensor, b: DecidingTensor): number {
  const rank = Math.max(a.dims.length, b.dims.length);
  const shape = Array.from({ length: rank }, (_, d) => {
    const [p, q] = [dimAt(a.dims, rank, d), dimAt(b.dims, rank, d)];
    if (p === q || q === 1) return p;
    if (p === 1) return q;
    const shapes = [a, b].map(({ dims }) => `[${dims.join(", ")}]`).join(" and ");
    throw new MarginError(`node ${node} compares ${tensors.join(" and ")}, whose shapes ${shapes} do not fit`);
  });
  const [strides, others] = [stridesOf(a.dims, rank), stridesOf(b.dims, rank)];
  let margin = Infinity;
  visit(0, 0, 0);
  return margin;

  function visit(d: number, i: number, j: number): void {
    if (d === rank) margin = Math.min(margin, Math.abs(a.data[i]! - b.data[j]!));
    else for (let k = 0; k < shape[d]!; k++) visit(d + 1, i + k * strides[d]!, j + k * others[d]!);
  }
}

/** Returns a dimension of a shape filled up with ones to a rank. */
const dimAt = (dims: readonly number[], rank: number, d: number): number => dims[d - rank + dims.length] ?? 1;

/** Returns the strides of a shape filled up with ones to a rank; 0 for broadcast dimensions. */
function stridesOf(dims: readonly number[], rank: number): number[] {
  const strides = new Array<number>(rank).fill(0);
  let stride = 1;
  for (let d = rank - 1; d >= 0; d--) {
    const dim = dimAt(dims, rank, d);
    if (dim !== 1) strides[d] = stride;
    stride *= dim;
  }
  return strides;
}

/** Returns a function: a value's distance to the nearest value that rounds otherwise. */
function distanceToBoundary({ boundaries, range }: RoundingDecision): (value: number) => number {
  const [below, above] = range ?? [-Infinity, Infinity];
  return (value) => Math.min(Math.max(0, value - below), Math.max(0, above - value), distance(value));

  function distance(value: number): number {
    if (boundaries === "none") return Infinity;
    if (boundaries === "wholeButZero" && Math.abs(value) < 1) return 1 - Math.abs(value);
    const fraction = value - Math.floor(value);
    return boundaries === "halves" ? Math.abs(fraction - 0.5) : Math.min(fraction, 1 - fraction);
  }
}
