/**
 * How nodes read bounded tensors, which have room for more elements than there are: docs/operators.md, "Sizes that
 * depend on data".
 */
import { broadcastShapes } from "../lowering/broadcast.ts";
import type { NodeContext } from "../lowering/nodeContext.ts";
import { atMost } from "./along.ts";
import { onlyFirst, refuseAlong, type BoundedRule, type Place } from "./read.ts";

/** Under broadcasting, the inputs agree on the axis; other operands have a dimension of 1 there. */
export const elementwise: BoundedRule = (context, places) => {
  if (context.opset < 7 && context.inputs.length > 1)
    return refuseAlong(context, places[0]!.input, "operands are aligned from operator set 7 on");
  const shapes = context.inputs.map((input) => input?.shape ?? []);
  const rank = broadcastShapes(shapes)?.length ?? context.fail("the inputs do not broadcast");
  const at = ({ input, axis }: Place): number => rank - shapes[input]!.length + axis;
  const axis = at(places[0]!);
  for (const place of places)
    if (at(place) !== axis) refuseAlong(context, place.input, "another input has another axis");
  shapes.forEach((shape, k) => {
    const dim = shape[axis - rank + shape.length] ?? 1;
    if (dim !== 1 && !places.some(({ input }) => input === k))
      context.refuse(`input ${k}`, `has ${dim} elements where the size of another is not known at compile time`);
  });
  return { axis };
};

/** Each element stays at its place. */
export const keeps: BoundedRule = (context, places) => ({ axis: onlyFirst(context, places).axis, moves: true });

export const transpose: BoundedRule = (context, places) => {
  const { axis } = onlyFirst(context, places);
  const perm = context.ints("perm");
  return { axis: perm?.indexOf(axis) ?? context.input(0).shape.length - 1 - axis, moves: true };
};

const axesOf = (context: NodeContext): number[] | undefined =>
  context.opset < 13 ? context.ints("axes") : context.constantInts(1, "axes");

export const squeeze: BoundedRule = (context, places) => {
  const { axis } = onlyFirst(context, places);
  const rank = context.input(0).shape.length;
  const axes = axesOf(context)?.map((given) => context.axis(given, rank));
  if (axes === undefined) return refuseAlong(context, 0, "give the axes to squeeze");
  if (axes.includes(axis)) return refuseAlong(context, 0, "it cannot be squeezed");
  return { axis: axis - axes.filter((removed) => removed < axis).length, moves: true };
};

export const unsqueeze: BoundedRule = (context, places) => {
  const { axis } = onlyFirst(context, places);
  const rank = context.input(0).shape.length;
  const axes = axesOf(context) ?? [];
  const added = new Set(axes.map((given) => context.axis(given, rank + axes.length)));
  const kept = Array.from({ length: rank + axes.length }, (_, d) => d).filter((d) => !added.has(d));
  return { axis: kept[axis] ?? context.fail("the axes repeat"), moves: true };
};

/** Reshape, Flatten: the dimension stays separate, with equally many elements before and behind it. */
export const reshaped: BoundedRule = (context, places, lower) => {
  const { axis, count } = onlyFirst(context, places);
  const { shape } = context.input(0);
  const wanted = context.node.operator === "Reshape" ? context.constantInts(1, "shape") : undefined;
  const [output] = lower(context);
  const product = (dims: readonly number[]): number => dims.reduce((all, dim) => all * dim, 1);
  const dims = output!.shape;
  const fits = dims.flatMap((dim, d) =>
    dim === shape[axis] && product(dims.slice(0, d)) === product(shape.slice(0, axis)) ? [d] : [],
  );
  const open = fits.find((d) => wanted === undefined || wanted[d] === -1 || (wanted[d] === 0 && d === axis));
  if (open === undefined)
    return refuseAlong(context, 0, "keep it a dimension of its own, and give -1 for it in the new shape");
  return { outputs: [{ ...output!, bounded: { axis: open, count } }] };
};

export const slice: BoundedRule = (context, places) => {
  const { axis, count } = onlyFirst(context, places);
  const attributes = context.opset < 10;
  const list = (index: number, name: string): number[] | undefined =>
    attributes ? context.bounds(name) : context.constantBounds(index, name);
  const [starts, ends] = [list(1, "starts") ?? [], list(2, "ends") ?? []];
  const { shape } = context.input(0);
  const axes = (list(3, "axes") ?? starts.map((_, k) => k)).map((given) => context.axis(given, shape.length));
  const k = axes.indexOf(axis);
  if (k < 0) return { axis, moves: true };
  const step = attributes ? 1 : (context.constantBounds(4, "steps")?.[k] ?? 1);
  if (starts[k] !== 0 || step !== 1 || !(ends[k]! > 0))
    return refuseAlong(context, 0, "take the first ones, from 0 on in steps of 1");
  if (ends[k]! >= shape[axis]!) return { axis, moves: true };
  return { axis, moves: true, count: atMost(context, count, ends[k]!) };
};

export const concat: BoundedRule = (context, places) => {
  const { axis } = places[0]!;
  const { shape } = context.input(places[0]!.input);
  if (context.axis(context.int("axis", 1), shape.length) === axis)
    return refuseAlong(context, places[0]!.input, "nothing can be put behind it");
  const whole = context.inputs.findIndex((_, k) => !places.some((place) => place.input === k && place.axis === axis));
  if (whole >= 0) return refuseAlong(context, whole, "another input has one, or along another axis");
  return { axis, moves: true };
};

export const split: BoundedRule = (context, places) => {
  const { axis } = onlyFirst(context, places);
  if (context.axis(context.int("axis", 0), context.input(0).shape.length) === axis)
    return refuseAlong(context, 0, "split along another axis");
  return { axis, moves: true };
};

/** Expand: repeated along other axes. */
export const expand: BoundedRule = (context, places) => {
  const { axis } = onlyFirst(context, places);
  const given = context.constantInts(1, "shape") ?? [];
  const { shape } = context.input(0);
  const rank = Math.max(given.length, shape.length);
  const at = rank - shape.length + axis;
  if ((given[at - rank + given.length] ?? 1) !== 1) return refuseAlong(context, 0, "repeat it along other axes");
  return { axis: at, moves: true };
};

/** Bounded data or indices, or both: an index behind the count reads element 0, later replaced by zeros. */
export const gather: BoundedRule = (context, places) => {
  const [data, indices] = [context.input(0), context.input(1)];
  const along = context.axis(context.int("axis", 0), data.shape.length);
  const [own, chosen] = [0, 1].map((input) => places.find((place) => place.input === input));
  if (own?.axis === along) return refuseAlong(context, 0, "whether an index is within it is not known");
  if (own !== undefined && chosen !== undefined) return refuseAlong(context, 1, "so has input 0");
  if (chosen !== undefined) return { axis: along + chosen.axis };
  return { axis: own!.axis < along ? own!.axis : own!.axis + indices.shape.length - 1, moves: true };
};

/** GatherND, GatherElements: bounded indices into data that is there. */
export const gatherAt: BoundedRule = (context, places) => {
  const [place] = places;
  if (places.length > 1 || place!.input !== 1) return refuseAlong(context, 0, "only the indices may have one");
  const tuples = context.node.operator === "GatherND";
  if (tuples && place!.axis === context.input(1).shape.length - 1)
    return refuseAlong(context, 1, "it is the one of the index tuples");
  return { axis: place!.axis };
};

/** The operator computes along an axis, which must not be the bounded one. */
export const otherAxis =
  (name: string, otherwise: number, since = 1): BoundedRule =>
  (context, places) => {
    const { axis } = onlyFirst(context, places);
    const own = context.axis(context.int(name, otherwise), context.input(0).shape.length);
    if (own === axis || context.opset < since) return refuseAlong(context, 0, "compute along another axis");
    return { axis };
  };

/** Normalisation over all dimensions from an axis on, which must lie behind the bounded one. */
export const fromAxis: BoundedRule = (context, places) => {
  const { axis } = onlyFirst(context, places);
  const own = context.axis(context.int("axis", -1), context.input(0).shape.length);
  return axis < own ? { axis } : refuseAlong(context, 0, "normalise along other axes");
};

/** An operator computing each element of a batch separately. */
export const batch: BoundedRule = (context, places) => {
  const { axis } = onlyFirst(context, places);
  if (context.node.operator === "BatchNormalization" && context.int("training_mode", 0) !== 0)
    return refuseAlong(context, 0, "training is over the batch");
  return axis === 0 ? { axis } : refuseAlong(context, 0, "only the batch may have one");
};

/** Rows of a product's left factor. */
export const rows: BoundedRule = (context, places) => {
  const { axis } = onlyFirst(context, places);
  const [left, right] = [context.input(0).shape.length, context.input(1).shape.length];
  const isGemm = context.node.operator === "Gemm";
  const isRow = isGemm ? axis === 0 && context.int("transA", 0) === 0 : axis < left - 1 && right <= 2;
  const added = isGemm ? context.optional(2)?.shape : undefined;
  const fits = added === undefined || added.length < 2 || added[0] === 1;
  return isRow && fits ? { axis } : refuseAlong(context, 0, "only the rows of the left factor may have one");
};

export const roiAlign: BoundedRule = (context, places) => {
  const both = [1, 2].every((k) => places.some(({ input, axis }) => input === k && axis === 0));
  return both && places.length === 2
    ? { axis: 0 }
    : refuseAlong(context, places[0]!.input, "regions and their pictures must have it, and nothing else");
};

/** Results with their own count: zeros behind the inputs' count do not belong to the results. */
export const ownCount: BoundedRule = (context, places, lower) => {
  if (context.node.operator === "Compress") {
    const data = places.find(({ input }) => input === 0);
    const flat = !context.has("axis");
    const rank = context.input(0).shape.length;
    const axis = flat ? 0 : context.axis(context.int("axis", 0), rank);
    if (data !== undefined && (data.axis !== axis || (flat && rank > 1) || places.length < 2))
      return refuseAlong(context, 0, "compress along it, by conditions that have it too");
  }
  return { outputs: lower(context) };
};
