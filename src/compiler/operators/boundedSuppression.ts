import { Reduce } from "../../program/types.ts";
import type { Expr } from "../expressions/expression.ts";
import type { LazyTensor } from "../expressions/tensor.ts";
import { broadcast } from "../lowering/broadcast.ts";
import { concatenate } from "../lowering/concatenate.ts";
import { indexTensor } from "../lowering/indices.ts";
import type { NodeContext } from "../lowering/nodeContext.ts";
import { slicedAlong } from "../lowering/slices.ts";
import { bounded, positionsOf } from "./boundedOutputs.ts";
import { gatherAlong } from "./gather.ts";
import { reduceAxes } from "./reduction.ts";

/** The parameters of NonMaxSuppression, known at compile time. */
type Suppression = { isCentred: boolean; max: number; threshold: number; min: number };

/** The maximum number of boxes chosen in sequence, per batch and class. */
const MAX_CHOSEN = 1024;

/**
 * NonMaxSuppression for boxes [batches, boxes, 4] and scores [batches, classes, boxes] known when the program is
 * executed. Boxes are chosen one after the other: the remaining box with the greatest score (the first among equal
 * scores); then all boxes that overlap the chosen box drop out. The result lists the chosen boxes for all batches and
 * classes, in order. All in float32.
 * @returns int64[batches * classes * most, 3], bounded
 */
export function boundedSuppression(
  context: NodeContext,
  boxes: LazyTensor,
  scores: LazyTensor,
  { isCentred, max, threshold, min }: Suppression,
): LazyTensor[] {
  const { builder, expressions: e } = context;
  const [batches, classes, count] = scores.shape as [number, number, number];
  if (max > MAX_CHOSEN)
    return context.refuse("max_output_boxes_per_class", `is ${max}, at most ${MAX_CHOSEN} are chosen one by one`);
  const stored = (tensor: LazyTensor): LazyTensor => {
    builder.realise(tensor);
    return tensor;
  };
  const suppressed = stored(builder.reshape(overlaps(context, boxes, isCentred, threshold), [batches * count, count]));
  const [none, number] = [e.float(-Infinity), indexTensor(e, [1, 1, count], 2)];
  let left = stored(broadcast(context, [scores], (s) => e.select(e.lt(e.float(min), s), s, none)));
  const chosen: LazyTensor[] = [];
  const found: LazyTensor[] = [];
  const column = (tensor: LazyTensor): LazyTensor => builder.reshape(tensor, [batches, classes, 1]);
  for (let k = 0; k < max; k++) {
    const at = stored(reduceAxes(builder, left, [2], Reduce.argmax));
    const best = stored(reduceAxes(builder, left, [2], Reduce.max));
    chosen.push(at);
    found.push(stored(broadcast(context, [best], (s) => e.lt(none, s))));
    if (k === max - 1) break;
    const batch = indexTensor(e, [batches, 1, 1], 0);
    const rows = stored(broadcast(context, [at, batch], (a, b) => e.add(e.mul(b, e.int64(count)), a)));
    const taken = gatherAlong(context, suppressed, builder.reshape(rows, [batches, classes]), 0);
    left = stored(
      broadcast(
        context,
        [left, taken, column(at), number],
        (s, overlapping, a, n) => e.select(e.or(overlapping, e.eq(a, n)), none, s),
        true,
      ),
    );
  }
  const all = batches * classes * max;
  const inOrder = (parts: readonly LazyTensor[]): LazyTensor =>
    stored(builder.reshape(stored(concatenate(context, parts, 2)), [all]));
  const { places, isThere, total } = positionsOf(context, inOrder(found), all);
  const box = gatherAlong(context, inOrder(chosen), places, 0);
  const rowOf = (values: LazyTensor, of: (value: Expr) => Expr): LazyTensor =>
    builder.reshape(
      broadcast(context, [values, isThere], (v, there) => e.select(there, of(v), e.int64(0)), true),
      [all, 1],
    );
  const columns = [
    rowOf(places, (place) => e.div(place, e.int64(classes * max))),
    rowOf(places, (place) => e.mod(e.div(place, e.int64(max)), e.int64(classes))),
    rowOf(box, (value) => value),
  ];
  return [bounded(concatenate(context, columns, 1), 0, total)];
}

/**
 * Returns true where, for two boxes in a batch, intersection over union is above the threshold: bool[batches, N, N].
 */
function overlaps(context: NodeContext, boxes: LazyTensor, isCentred: boolean, threshold: number): LazyTensor {
  const { builder, expressions: e } = context;
  const [batches, count] = boxes.shape as [number, number];
  const part = (k: number): LazyTensor => builder.reshape(slicedAlong(context, boxes, 2, k, 1), [batches, count]);
  const made = (inputs: readonly LazyTensor[], build: (...all: Expr[]) => Expr): LazyTensor => {
    const tensor = broadcast(context, inputs, build);
    builder.realise(tensor);
    return tensor;
  };
  /** The lower and the upper end along a dimension. */
  const ends = (a: number, b: number): readonly [LazyTensor, LazyTensor] => {
    const pair = [part(a), part(b)];
    if (!isCentred) return [made(pair, e.min), made(pair, e.max)];
    const half = (size: Expr): Expr => e.div(size, e.float(2));
    return [made(pair, (c, size) => e.sub(c, half(size))), made(pair, (c, size) => e.add(c, half(size)))];
  };
  const [x, y] = isCentred ? [ends(0, 2), ends(1, 3)] : [ends(1, 3), ends(0, 2)];
  const area = made([...y, ...x], (y0, y1, x0, x1) => e.mul(e.sub(y1, y0), e.sub(x1, x0)));
  const rows = (tensor: LazyTensor): LazyTensor => builder.reshape(tensor, [batches, count, 1]);
  const columns = (tensor: LazyTensor): LazyTensor => builder.reshape(tensor, [batches, 1, count]);
  const side = ([low, high]: readonly [LazyTensor, LazyTensor]): LazyTensor =>
    made([rows(low), rows(high), columns(low), columns(high)], (a0, a1, b0, b1) => e.sub(e.min(a1, b1), e.max(a0, b0)));
  const positive = (value: Expr): Expr => e.lt(e.float(0), value);
  return made([side(y), side(x), rows(area), columns(area)], (height, width, a, b) => {
    const both = e.mul(height, width);
    const over = e.lt(e.float(threshold), e.div(both, e.sub(e.add(a, b), both)));
    return [height, width, a, b].map(positive).reduce((all, one) => e.and(all, one), over);
  });
}
