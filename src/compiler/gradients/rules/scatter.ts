import { DType } from "../../../numerics/dtype.ts";
import { elementCount } from "../../../model/onnx/model.ts";
import type { Backward, Rule } from "../backward.ts";

/** A way in which indices name elements in a tensor: how to read the elements, and how to write updates. */
type Places = {
  /** The tensor's shape, and (`named`) the shape of the elements named by the indices. */
  whole: readonly number[];
  named: readonly number[];
  read: (x: string) => string;
  write: (x: string, updates: string, reduction?: "add") => string;
  /** Whether two indices may name one element. */
  mayRepeat: boolean;
};

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** Returns true if an index tuple repeats; some indices may be counted from the end. */
const repeats = (tuples: readonly (readonly number[])[], sizes: readonly number[]): boolean => {
  const own = tuples.map((tuple) => tuple.map((index, k) => (index < 0 ? index + sizes[k]! : index)).join());
  return new Set(own).size < own.length;
};

/** Places of GatherElements and ScatterElements. */
function elementPlaces(
  b: Backward,
  indices: string,
  whole: readonly number[],
  named: readonly number[],
  axis: number,
): Places {
  const known = b.known(indices);
  const steps = named.map((_, d) => elementCount(named.slice(d + 1)));
  const tuples = known?.map((index, i) =>
    named.map((dim, d) => (d === axis ? index : Math.floor(i / steps[d]!) % dim)),
  );
  return {
    whole,
    named,
    read: (x) => b.opWith("GatherElements", { axis }, x, indices),
    write: (x, updates, reduction) =>
      b.opWith("ScatterElements", { axis, ...(reduction && { reduction }) }, x, indices, updates),
    mayRepeat: tuples === undefined || repeats(tuples, whole),
  };
}

/** Places of GatherND and ScatterND. */
function tuplePlaces(
  b: Backward,
  indices: string,
  whole: readonly number[],
  depth: number,
  named: readonly number[],
): Places {
  const known = b.known(indices);
  const tuples = known && upTo(known.length / depth).map((k) => known.slice(k * depth, (k + 1) * depth));
  return {
    whole,
    named,
    read: (x) => b.op("GatherND", x, indices),
    write: (x, updates, reduction) =>
      b.opWith("ScatterND", reduction === undefined ? {} : { reduction }, x, indices, updates),
    mayRepeat: tuples === undefined || repeats(tuples, whole),
  };
}

/** Among several updates to one element the last stays: the gradient of the others is 0. */
function ofLast(b: Backward, places: Places, gradient: string): string {
  if (!places.mayRepeat) return gradient;
  const numbers = b.places(places.named);
  const base = b.expand(b.f(0, DType.int64), places.whole);
  const last = places.read(places.write(base, numbers));
  return b.where(b.op("Equal", last, numbers), gradient, b.f(0));
}

/** ScatterElements and ScatterND: inputs data, indices, updates. */
function scattered(b: Backward, places: Places): (string | undefined)[] {
  const reduction = b.opset >= 16 ? b.attributes.string("reduction", "none") : "none";
  const [data, updates] = [b.x(0), b.x(2)];
  switch (reduction) {
    case "none":
      return [
        b.if(0, () => places.write(b.dy, b.zeros(places.named))),
        undefined,
        b.if(2, () => ofLast(b, places, places.read(b.dy))),
      ];
    case "add":
      return [b.dy, undefined, b.if(2, () => places.read(b.dy))];
    case "mul": {
      if (places.mayRepeat) return b.refuse("has a gradient rule with reduction mul only if no index is there twice");
      const ones = b.expand(b.f(1), places.whole);
      return [
        b.if(0, () => b.mul(b.dy, places.write(ones, updates))),
        undefined,
        b.if(2, () => places.read(b.mul(b.dy, data))),
      ];
    }
    default: {
      // Max and min: all elements equal to the result share the gradient.
      const is = (x: string, result: string): string => b.opWith("Cast", { to: b.dtype() }, b.op("Equal", x, result));
      const [ofData, ofUpdates] = [is(data, b.y), is(updates, places.read(b.y))];
      const share = b.div(b.dy, places.write(ofData, ofUpdates, "add"));
      return [b.if(0, () => b.mul(share, ofData)), undefined, b.if(2, () => b.mul(places.read(share), ofUpdates))];
    }
  }
}

const axisOf = (b: Backward, otherwise = 0): number => b.axis(b.attributes.int("axis", otherwise), b.shape(0).length);

/** ScatterElements, and Scatter. */
export const scatterElements: Rule = (b) => scattered(b, elementPlaces(b, b.x(1), b.shape(0), b.shape(1), axisOf(b)));

export const scatterNd: Rule = (b) => scattered(b, tuplePlaces(b, b.x(1), b.shape(0), b.shape(1).at(-1)!, b.shape(2)));

/** The gradients of equal tuples are added. Dimensions of the batch become indices like the others. */
export const gatherNd: Rule = (b) => {
  const batch = b.attributes.int("batch_dims", 0);
  const [shape, taken] = [b.shape(0), b.shape(1)];
  let indices = b.x(1);
  if (batch > 0) {
    const outer = taken.slice(0, -1);
    const own = upTo(batch).map((d) => {
      const numbers = b.tensor(
        upTo(outer[d]!),
        outer.map((dim, k) => (k === d ? dim : 1)),
        DType.int64,
      );
      return b.expand(b.op("Unsqueeze", numbers, b.integers(-1)), [...outer, 1]);
    });
    const given = b.dtype(1) === DType.int64 ? indices : b.opWith("Cast", { to: DType.int64 }, indices);
    indices = b.opWith("Concat", { axis: -1 }, ...own, given);
  }
  return [b.opWith("ScatterND", { reduction: "add" }, b.zeros(shape), indices, b.dy)];
};

/** Each chosen element has its own place. */
export const topK: Rule = (b) => [
  b.opWith("ScatterElements", { axis: axisOf(b, -1) }, b.zeros(b.shape(0)), b.output(1), b.dy),
];

/** Each value reads the gradient at the value's place in the flattened output. */
export const maxUnpool: Rule = (b) => {
  const [count, size] = [elementCount(b.shape(0)), elementCount(b.outputShape)];
  const indices = b.opWith("Cast", { to: DType.int64 }, b.shaped(b.x(1), [count]));
  const places = elementPlaces(b, indices, [size], [count], 0);
  return [b.shaped(ofLast(b, places, places.read(b.shaped(b.dy, [size]))), b.shape(0))];
};

/** The update reads the gradient at the place of writing; at the same place, the cache has no gradient. */
export const tensorScatter: Rule = (b) => {
  const [cache, update] = [b.shape(0), b.shape(1)];
  const axis = axisOf(b, -2);
  const spread = (values: string, d: number): string =>
    b.shaped(
      values,
      update.map((dim, k) => (k === d ? dim : 1)),
    );
  const starts = b.has(2) ? spread(b.opWith("Cast", { to: DType.int64 }, b.x(2)), 0) : b.f(0, DType.int64);
  const size = b.f(cache[axis]!, DType.int64);
  const at = b.add(starts, spread(b.integers(...upTo(update[axis]!)), axis));
  const indices = b.expand(b.op("Mod", at, size), update);
  const places = elementPlaces(b, indices, cache, update, axis);
  return [b.if(0, () => places.write(b.dy, b.zeros(update))), b.if(1, () => places.read(b.dy))];
};
