import { isCropped, repetition, resizedAxesOf } from "../../operators/resize/resize.ts";
import type { Rule } from "../backward.ts";

/** Resize and Upsample: the transposed mixing of each dimension. Values filled in from outside have no gradient. */
export const resize: Rule = (b) => {
  const cropped = isCropped(b.attributes);
  const shape = [...b.outputShape];
  let gradient = b.dy;
  for (const [d, { axis, taps }] of resizedAxesOf(b.attributes, b.attributes.input(0))) {
    const mode = b.attributes.string("mode", "nearest");
    const times = mode === "nearest" && !cropped ? repetition(axis, taps) : undefined;
    if (times !== undefined) {
      const apart = [...shape.slice(0, d), axis.input, times, ...shape.slice(d + 1)];
      gradient = b.sum(b.reshape(gradient, shape, apart), [d + 1], 0);
    } else {
      const weights = taps.map(({ positions, weights: own, outOfRange }) => {
        const row = new Array<number>(axis.input).fill(0);
        if (!cropped || !outOfRange) positions.forEach((at, k) => at < axis.input && (row[at]! += own[k]!));
        return row;
      });
      gradient = b.along(gradient, shape, d, axis.input, (to, from) => weights[from]![to]!);
    }
    shape[d] = axis.input;
  }
  return [gradient];
};
