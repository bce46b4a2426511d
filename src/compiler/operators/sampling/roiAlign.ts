import { DType } from "../../../numerics/dtype.ts";
import { Reduce } from "../../../program/types.ts";
import { digitAffine } from "../../expressions/affine.ts";
import { REDUCTION_DIGIT, type Expr } from "../../expressions/expression.ts";
import type { Lower, NodeContext } from "../../lowering/nodeContext.ts";
import type { LazyTensor } from "../../expressions/tensor.ts";
import { component, sampled, type Taps } from "./taps.ts";
import { broadcast } from "../../lowering/broadcast.ts";
import { indexTensor } from "../../lowering/indices.ts";

/** Places each bin's samples along a dimension with the given size: taps [rois, bins, samples]. */
function binTaps(
  context: NodeContext,
  [start, end]: readonly [LazyTensor, LazyTensor],
  size: number,
  bins: number,
  samples: number,
  half: boolean,
): Taps {
  const { builder, expressions: e } = context;
  const scale = e.float(context.float("spatial_scale", 1));
  const scaled = (v: Expr): Expr => e.sub(e.mul(v, scale), e.float(half ? 0.5 : 0));
  const width = (a: Expr, b: Expr): Expr => {
    const own = e.sub(scaled(b), scaled(a));
    const atLeast = half ? own : e.max(own, e.float(1));
    return e.div(atLeast, e.float(bins));
  };
  const rois = start.shape[0]!;
  const bin = broadcast(context, [start, end], width);
  const from = broadcast(context, [start], scaled);
  for (const tensor of [bin, from]) builder.realise(tensor);
  const column = (tensor: LazyTensor, shape: readonly number[]): LazyTensor => builder.reshape(tensor, shape);
  const coordinates = broadcast(
    context,
    [
      column(from, [rois, 1, 1]),
      column(bin, [rois, 1, 1]),
      column(indexTensor(e, [bins], 0), [bins, 1]),
      indexTensor(e, [samples], 0),
    ],
    (first, step, b, s) => {
      const inBin = e.add(e.cast(s, DType.float32), e.float(0.5));
      const offset = e.div(e.mul(inBin, step), e.float(samples));
      return e.add(e.add(first, e.mul(e.cast(b, DType.float32), step)), offset);
    },
    true,
  );
  builder.realise(coordinates);
  const points = column(coordinates, [rois, bins, samples, 1]);
  const last = e.int64(size - 1);
  const positive = (c: Expr): Expr => e.max(c, e.float(0));
  const lowOf = (c: Expr): Expr => e.min(e.cast(positive(c), DType.int64), last);
  const isFirst = (t: Expr): Expr => e.eq(t, e.int64(0));
  const taps = indexTensor(e, [2], 0);
  const positions = broadcast(context, [points, taps], (c, t) => e.min(e.add(lowOf(c), t), last), true);
  builder.realise(positions);
  const weights = broadcast(
    context,
    [points, taps],
    (c, t) => {
      const low = lowOf(c);
      const fraction = e.sub(positive(c), e.cast(low, DType.float32));
      const inside = e.select(e.lt(low, last), fraction, e.float(0));
      const weight = e.select(isFirst(t), e.sub(e.float(1), inside), inside);
      const valid = e.and(e.le(e.float(-1), c), e.le(c, e.float(size)));
      return e.select(valid, weight, e.float(0));
    },
    true,
  );
  builder.realise(weights);
  return { positions, weights, count: 2 };
}

/**
 * RoiAlign: the mean (or the greatest weighted element) of `sampling_ratio` * `sampling_ratio` samples of each bin,
 * each mixed linearly.
 */
export const roiAlign: Lower = (context) => {
  const { builder, expressions: e } = context;
  const [x, rois, batches] = [context.floatInput(0), context.floatInput(1), context.input(2)];
  const [height, width] = [context.int("output_height", 1), context.int("output_width", 1)];
  const samples = context.int("sampling_ratio", 0);
  if (samples < 1) return context.refuse("sampling_ratio", "is 0: the number of samples would depend on the data");
  const mode = context.string("mode", "avg");
  if (mode !== "avg" && mode !== "max") return context.refuse("mode", `is ${mode}`);
  const coordinates = context.string(
    "coordinate_transformation_mode",
    context.opset < 16 ? "output_half_pixel" : "half_pixel",
  );
  if (coordinates !== "half_pixel" && coordinates !== "output_half_pixel")
    return context.refuse("coordinate_transformation_mode", `is ${coordinates}`);
  const [, channels = 0, rows = 0, columns = 0] = x.shape;
  const count = rois.shape[0] ?? 0;
  if (x.shape.length !== 4 || rois.shape.join() !== `${count},4` || batches.shape.join() !== String(count))
    return context.fail(`data [${x.shape.join()}], regions [${rois.shape.join()}], batches [${batches.shape.join()}]`);
  builder.realise(rois);
  const corner = (k: number): LazyTensor => component(context, rois, k);
  const half = coordinates === "half_pixel";
  const down = binTaps(context, [corner(1), corner(3)], rows, height, samples, half);
  const across = binTaps(context, [corner(0), corner(2)], columns, width, samples, half);
  const batch: Taps = { positions: builder.reshape(batches, [count, 1]), weights: undefined, count: 1 };
  const [first, second] = [digitAffine(REDUCTION_DIGIT), digitAffine(REDUCTION_DIGIT + 1)];
  const result = sampled(
    context,
    x,
    [count, channels, height, width],
    (all) => [
      { taps: batch, at: [all[0]!] },
      all[1]!,
      { taps: down, at: [all[0]!, all[2]!], reduced: [first] },
      { taps: across, at: [all[0]!, all[3]!], reduced: [second] },
    ],
    [samples, samples],
    mode === "avg" ? Reduce.dot : Reduce.max,
  );
  if (mode === "max") return [result];
  return [broadcast(context, [result], (v) => e.div(v, e.float(samples * samples)))];
};
