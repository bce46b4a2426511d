import { elementCount } from "../../../model/onnx/model.ts";
import type { Backward, Rule } from "../backward.ts";

/** x - mean over some axes, divided by the root of the mean square; and what a gradient of that becomes. */
type Normal = { normal: string; back: (gradient: string) => string };

function normalise(b: Backward, x: string, axes: readonly number[], centred: boolean): Normal {
  const epsilon = b.f(b.attributes.float("epsilon", 1e-5));
  const d = centred ? b.sub(x, b.mean(x, axes)) : x;
  const root = b.op("Sqrt", b.add(b.mean(b.mul(d, d), axes), epsilon));
  const normal = b.div(d, root);
  const back = (gradient: string): string => {
    const along = b.mul(normal, b.mean(b.mul(gradient, normal), axes));
    const rest = b.sub(gradient, along);
    return b.div(centred ? b.sub(rest, b.mean(gradient, axes)) : rest, root);
  };
  return { normal, back };
}

/** LayerNormalization and, not centred, RMSNormalization: over the last axes. */
const lastAxes =
  (centred: boolean): Rule =>
  (b) => {
    const rank = b.shape().length;
    const first = b.axis(b.attributes.int("axis", -1), rank);
    const axes = b.shape().flatMap((_, d) => (d < first ? [] : [d]));
    const { normal, back } = normalise(b, b.x(), axes, centred);
    return [
      b.if(0, () => back(b.mul(b.dy, b.x(1)))),
      b.if(1, () => b.toInput(1, b.mul(b.dy, normal))),
      b.if(2, () => b.toInput(2, b.dy)),
    ];
  };

export const layerNormalization = lastAxes(true);
export const rmsNormalization = lastAxes(false);

const notChannels = (b: Backward): number[] => b.shape().flatMap((_, d) => (d === 1 ? [] : [d]));
const column = (b: Backward, input: number): string =>
  b.reshape(b.x(input), b.shape(input), [
    b.shape()[1]!,
    ...b
      .shape()
      .slice(2)
      .map(() => 1),
  ]);
const perChannel = (b: Backward, gradient: string): string => b.sum(gradient, notChannels(b), 0);

export const instanceNormalization: Rule = (b) => {
  const axes = b.shape().flatMap((_, d) => (d < 2 ? [] : [d]));
  const { normal, back } = normalise(b, b.x(), axes, true);
  return [
    b.if(0, () => back(b.mul(b.dy, column(b, 1)))),
    b.if(1, () => perChannel(b, b.mul(b.dy, normal))),
    b.if(2, () => perChannel(b, b.dy)),
  ];
};

/**
 * Over the channels of a group and the spatial dimensions. Scale and bias are each group's before operator set 21, each
 * channel's from then on.
 */
export const groupNormalization: Rule = (b) => {
  const shape = b.shape();
  const groups = b.attributes.int("num_groups", 1);
  const flat = [shape[0]!, groups, elementCount(shape) / (shape[0]! * groups)];
  const { normal, back } = normalise(b, b.reshape(b.x(), shape, flat), [2], true);
  if (b.opset < 21) {
    const dy = b.reshape(b.dy, shape, flat);
    const perGroup = b.reshape(b.x(1), [groups], [groups, 1]);
    return [
      b.if(0, () => b.reshape(back(b.mul(dy, perGroup)), flat, shape)),
      b.if(1, () => b.sum(b.mul(dy, normal), [0, 2], 0)),
      b.if(2, () => b.sum(dy, [0, 2], 0)),
    ];
  }
  return [
    b.if(0, () => b.reshape(back(b.reshape(b.mul(b.dy, column(b, 1)), shape, flat)), flat, shape)),
    b.if(1, () => perChannel(b, b.mul(b.dy, b.reshape(normal, flat, shape)))),
    b.if(2, () => perChannel(b, b.dy)),
  ];
};

/** Uses a given mean and variance, or the mean and variance of the batch. */
export const batchNormalization: Rule = (b) => {
  const shift = (): string => perChannel(b, b.dy);
  if (b.attributes.int("training_mode", 0) !== 0) {
    const { normal, back } = normalise(b, b.x(), notChannels(b), true);
    return [
      b.if(0, () => back(b.mul(b.dy, column(b, 1)))),
      b.if(1, () => perChannel(b, b.mul(b.dy, normal))),
      b.if(2, shift),
    ];
  }
  const root = b.op("Sqrt", b.add(column(b, 4), b.f(b.attributes.float("epsilon", 1e-5))));
  return [
    b.if(0, () => b.mul(b.dy, b.div(column(b, 1), root))),
    b.if(1, () => perChannel(b, b.mul(b.dy, b.div(b.sub(b.x(), column(b, 3)), root)))),
    b.if(2, shift),
  ];
};
