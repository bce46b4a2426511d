import type { Backward, Rule } from "../backward.ts";

/** A rule with a condition on the operand: the gradient where the condition holds, and the gradient elsewhere. */
const choose =
  (condition: (b: Backward) => string, then: (b: Backward) => string, otherwise: (b: Backward) => string): Rule =>
  (b) => [b.where(condition(b), then(b), otherwise(b))];

const isPositive = (b: Backward): string => b.op("Greater", b.x(), b.f(0));
const passed = (b: Backward): string => b.dy;
const stopped = (b: Backward): string => b.f(0);

/** By the result, which is kept anyway. */
export const relu = choose((b) => b.op("Greater", b.y, b.f(0)), passed, stopped);

export const leakyRelu = choose(isPositive, passed, (b) => b.mul(b.dy, b.f(b.attributes.float("alpha", 0.01))));

export const prelu: Rule = (b) => {
  const positive = isPositive(b);
  return [
    b.if(0, () => b.where(positive, b.dy, b.mul(b.dy, b.x(1)))),
    b.if(1, () => b.toInput(1, b.where(positive, b.f(0), b.mul(b.dy, b.x(0))))),
  ];
};

export const elu = choose(isPositive, passed, (b) => b.mul(b.dy, b.add(b.y, b.f(b.attributes.float("alpha", 1)))));

const SELU_ALPHA = 1.67326319217681884765625;
const SELU_GAMMA = 1.05070102214813232421875;

export const selu: Rule = (b) => {
  const [alpha, gamma] = [b.attributes.float("alpha", SELU_ALPHA), b.attributes.float("gamma", SELU_GAMMA)];
  return [b.mul(b.dy, b.where(isPositive(b), b.f(gamma), b.add(b.y, b.f(alpha * gamma))))];
};

export const celu = choose(isPositive, passed, (b) =>
  b.mul(b.dy, b.op("Exp", b.div(b.x(), b.f(b.attributes.float("alpha", 1))))),
);

export const thresholdedRelu = choose(
  (b) => b.op("Greater", b.x(), b.f(b.attributes.float("alpha", 1))),
  passed,
  stopped,
);

export const hardSigmoid = choose(
  (b) => b.op("And", b.op("Greater", b.y, b.f(0)), b.op("Less", b.y, b.f(1))),
  (b) => b.mul(b.dy, b.f(b.attributes.float("alpha", 0.2))),
  stopped,
);

/** x / 3 + 1/2 between -3 and 3, 0 below, 1 above. */
export const hardSwish: Rule = (b) => {
  const slope = b.add(b.div(b.x(), b.f(3)), b.f(0.5));
  const inner = b.where(b.op("Less", b.x(), b.f(3)), slope, b.f(1));
  return [b.mul(b.dy, b.where(b.op("Less", b.f(-3), b.x()), inner, b.f(0)))];
};

/** With t = tanh(softplus(x)): t + x * (1 - t^2) * sigmoid(x). */
export const mish: Rule = (b) => {
  const t = b.op("Tanh", b.op("Softplus", b.x()));
  const slope = b.mul(b.mul(b.x(), b.sub(b.f(1), b.mul(t, t))), b.op("Sigmoid", b.x()));
  return [b.mul(b.dy, b.add(t, slope))];
};

/** With s = sigmoid(alpha * x): s + alpha * x * s * (1 - s). */
export const swish: Rule = (b) => {
  const scaled = b.mul(b.x(), b.f(b.attributes.float("alpha", 1)));
  const s = b.op("Sigmoid", scaled);
  return [b.mul(b.dy, b.add(s, b.mul(scaled, b.mul(s, b.sub(b.f(1), s)))))];
};

/** Phi(x) + x * phi(x), or the derivative of its approximation by tanh. */
export const gelu: Rule = (b) => {
  const x = b.x();
  const half = (a: string): string => b.mul(b.f(0.5), a);
  if (b.attributes.string("approximate", "none") === "none") {
    const below = half(b.add(b.f(1), b.op("Erf", b.mul(x, b.f(Math.SQRT1_2)))));
    const density = b.mul(b.op("Exp", b.mul(b.mul(x, x), b.f(-0.5))), b.f(1 / Math.sqrt(2 * Math.PI)));
    return [b.mul(b.dy, b.add(below, b.mul(x, density)))];
  }
  const [scale, cubic] = [Math.sqrt(2 / Math.PI), 0.044715];
  const squared = b.mul(x, x);
  const inner = b.mul(b.mul(x, b.f(scale)), b.add(b.f(1), b.mul(squared, b.f(cubic))));
  const t = b.op("Tanh", inner);
  const slope = b.mul(b.f(scale), b.add(b.f(1), b.mul(squared, b.f(3 * cubic))));
  const tail = half(b.mul(b.mul(x, b.sub(b.f(1), b.mul(t, t))), slope));
  return [b.mul(b.dy, b.add(half(b.add(b.f(1), t)), tail))];
};

/** At a bound the gradient passes. */
export const clip: Rule = (b) => {
  const bound = (name: string, input: number): string | undefined =>
    b.opset < 11
      ? b.attributes.has(name)
        ? b.f(b.attributes.float(name, 0))
        : undefined
      : b.has(input)
        ? b.x(input)
        : undefined;
  const [min, largest] = [bound("min", 1), bound("max", 2)];
  let gradient = b.dy;
  if (min !== undefined) gradient = b.where(b.op("Less", b.x(), min), b.f(0), gradient);
  if (largest !== undefined) gradient = b.where(b.op("Greater", b.x(), largest), b.f(0), gradient);
  return [gradient];
};

/** In training, the values kept by the mask are divided by 1 - ratio. */
export const dropout: Rule = (b) => {
  const training = b.opset >= 12 && b.integersOf(2)?.[0] === 1;
  if (!training) return [b.dy];
  const ratio = b.has(1) ? b.opWith("Cast", { to: b.dtype() }, b.x(1)) : b.f(0.5);
  const scaled = b.div(b.dy, b.sub(b.f(1), ratio));
  return [b.where(b.output(1), scaled, b.f(0))];
};

/** A value nearer to 0 than the threshold has no gradient. */
export const shrink = choose(
  (b) => b.op("Greater", b.op("Abs", b.x()), b.f(b.attributes.float("lambd", 0.5))),
  passed,
  stopped,
);
