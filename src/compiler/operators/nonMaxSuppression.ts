import { DType } from "../../numerics/dtype.ts";
import { int64Tensor } from "../../model/onnx/tensorData.ts";
import { boundedSuppression } from "./boundedSuppression.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";
import { wordNumber } from "../../numerics/numbers.ts";

/** A box: the lower and upper corner, and the area; all float32. */
type Box = { y: readonly [number, number]; x: readonly [number, number]; area: number };

const f = Math.fround;

/** A box from its four numbers: two corners in any order, or its centre and size. */
function boxOf([a, b, c, d]: readonly [number, number, number, number], isCentred: boolean): Box {
  const half = [f(c / 2), f(d / 2)] as const;
  const x = isCentred ? ([f(a - half[0]), f(a + half[0])] as const) : ([Math.min(b, d), Math.max(b, d)] as const);
  const y = isCentred ? ([f(b - half[1]), f(b + half[1])] as const) : ([Math.min(a, c), Math.max(a, c)] as const);
  return { y, x, area: f(f(y[1] - y[0]) * f(x[1] - x[0])) };
}

/** Returns true if, for two boxes, intersection over union is above the threshold. */
function overlap(a: Box, b: Box, threshold: number): boolean {
  const side = (p: readonly [number, number], q: readonly [number, number]): number =>
    f(Math.min(p[1], q[1]) - Math.max(p[0], q[0]));
  const [height, width] = [side(a.y, b.y), side(a.x, b.x)];
  if (!(height > 0 && width > 0 && a.area > 0 && b.area > 0)) return false;
  const both = f(height * width);
  return f(both / f(f(a.area + b.area) - both)) > threshold;
}

/** The numbers of an input, if they are known at compile time. */
function known(context: NodeContext, index: number): number[] | undefined {
  const tensor = context.floatInput(index);
  return context.builder.words(tensor)?.map((word) => wordNumber(word, tensor.dtype));
}

/**
 * NonMaxSuppression in float32: keeps, for each batch and class, the boxes by falling score (the first among equal
 * scores first), without boxes that overlap a kept box. For boxes and scores unknown at compile time the result is
 * bounded.
 */
export const nonMaxSuppression: Lower = (context) => {
  const { builder } = context;
  const isCentred = context.int("center_point_box", 0) !== 0;
  const [shape, scoreShape] = [context.input(0).shape, context.input(1).shape];
  const [batches = 0, count = 0] = shape;
  const classes = scoreShape[1] ?? 0;
  if (shape.join() !== [batches, count, 4].join() || scoreShape.join() !== [batches, classes, count].join())
    return context.fail(`boxes [${shape.join()}] and scores [${scoreShape.join()}]`);
  const [numbers, scores] = [known(context, 0), known(context, 1)];
  const scalar = (index: number, what: string): number | undefined => {
    const tensor = context.optional(index);
    return tensor && wordNumber(context.constantWord(tensor, what), tensor.dtype);
  };
  const max = context.optional(2);
  const limit = max === undefined ? 0n : context.constantWord(max, "max_output_boxes_per_class");
  const [threshold = 0, min = -Infinity] = [scalar(3, "iou_threshold"), scalar(4, "score_threshold")];
  if (numbers === undefined || scores === undefined) {
    const chosen = Math.max(0, Math.min(Number(limit), count));
    if (chosen === 0) return [builder.filled(DType.int64, [0, 3], 0n)];
    const how = { isCentred, max: chosen, threshold, min };
    return boundedSuppression(context, context.input(0), context.input(1), how);
  }
  const boxes = Array.from({ length: batches * count }, (_, i) =>
    boxOf(numbers.slice(4 * i, 4 * i + 4) as [number, number, number, number], isCentred),
  );
  const rows: number[] = [];
  for (let batch = 0; batch < batches; batch++)
    for (let of = 0; of < classes; of++) {
      const score = (i: number): number => scores[(batch * classes + of) * count + i]!;
      const order = Array.from({ length: count }, (_, i) => i).filter((i) => score(i) > min);
      order.sort((a, b) => score(b) - score(a) || a - b);
      const kept: number[] = [];
      for (const i of order) {
        if (BigInt(kept.length) >= limit) break;
        builder.budget.computeElements(kept.length);
        const box = boxes[batch * count + i]!;
        if (!kept.some((other) => overlap(boxes[batch * count + other]!, box, threshold))) kept.push(i);
      }
      rows.push(...kept.flatMap((i) => [batch, of, i]));
    }
  return [builder.constant(int64Tensor(rows, [rows.length / 3, 3]))];
};
