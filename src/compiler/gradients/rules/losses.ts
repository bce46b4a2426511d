import { DType } from "../../../numerics/dtype.ts";
import type { Backward, Rule } from "../backward.ts";

/**
 * Returns for each position 1 at the position's class, else 0, in the shape of the scores; and the position's weight in
 * the result's gradient: the class's weight, 0 where the class is ignored, divided by the sum of weights for a mean.
 */
function positions(b: Backward): { isClass: string; weight: string } {
  const [, classes = 0, ...spatial] = b.shape(0);
  const labels = b.x(1);
  const type = b.dtype(1);
  const column = b.op("Unsqueeze", labels, b.integers(1));
  const fromEnd = b.add(column, b.f(classes, type));
  const wrapped = b.where(b.op("Less", column, b.f(0, type)), fromEnd, column);
  const numbers = Array.from({ length: classes }, (_, c) => c);
  const all = b.tensor(numbers, [1, classes, ...spatial.map(() => 1)], type);
  const isClass = b.opWith("Cast", { to: b.dtype() }, b.op("Equal", wrapped, all));

  let own: string | undefined;
  if (b.has(2)) {
    const weights = b.reshape(b.x(2), [classes], [1, classes, ...spatial.map(() => 1)]);
    own = b.sum(b.mul(isClass, weights), [1], 1);
  }
  if (b.attributes.has("ignore_index")) {
    const ignored = b.op(
      "Equal",
      b.opWith("Cast", { to: DType.int64 }, column),
      b.whole(b.attributes.integer("ignore_index", 0n)),
    );
    own = b.where(ignored, b.f(0), own ?? b.f(1));
  }
  const reduction = b.attributes.string("reduction", "mean");
  const shape = b.shape(1);
  if (reduction === "none") {
    const dy = b.op("Unsqueeze", b.dy, b.integers(1));
    return { isClass, weight: own === undefined ? dy : b.mul(dy, own) };
  }
  let dy = b.dy;
  if (reduction === "mean") {
    const axes = [shape[0]!, 1, ...spatial].map((_, d) => d);
    const count = own === undefined ? b.f(shape.reduce((product, dim) => product * dim, 1)) : b.sum(own, axes, 0);
    dy = b.div(dy, count);
  }
  return { isClass, weight: own === undefined ? dy : b.mul(dy, own) };
}

export const negativeLogLikelihood: Rule = (b) => {
  const { isClass, weight } = positions(b);
  return [b.neg(b.mul(isClass, weight))];
};

/**
 * (softmax - class) * weight. The softmax comes from the logarithms that the node outputs; the logarithms may have a
 * gradient of their own.
 */
export const softmaxCrossEntropy: Rule = (b) => {
  const softmax = b.op("Exp", b.output(1));
  const loss = (): string => {
    const { isClass, weight } = positions(b);
    return b.mul(b.sub(softmax, isClass), weight);
  };
  const logs = b.gradientOf(1);
  const own = logs === undefined ? undefined : b.sub(logs, b.mul(softmax, b.sum(logs, [1], 1)));
  if (b.gradientOf(0) === undefined) return [own];
  return [own === undefined ? loss() : b.add(loss(), own)];
};
