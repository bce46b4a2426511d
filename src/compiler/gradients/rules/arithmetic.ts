import type { Backward, Rule } from "../backward.ts";

/** The rule for an operator with two operands broadcast against each other. */
const binary =
  (left: (b: Backward) => string, right: (b: Backward) => string): Rule =>
  (b) => [b.if(0, () => b.toInput(0, left(b))), b.if(1, () => b.toInput(1, right(b)))];

export const add = binary(
  (b) => b.dy,
  (b) => b.dy,
);

export const sub = binary(
  (b) => b.dy,
  (b) => b.neg(b.dy),
);

export const mul = binary(
  (b) => b.mul(b.dy, b.x(1)),
  (b) => b.mul(b.dy, b.x(0)),
);

export const div = binary(
  (b) => b.div(b.dy, b.x(1)),
  (b) => b.neg(b.mul(b.div(b.dy, b.x(1)), b.y)),
);

/** The gradient by the base equals p * x^(p - 1); by the exponent, y * log x, and 0 where the base is 0. */
export const pow: Rule = (b) => {
  const dtype = b.dtype();
  const exponent = (): string => (b.dtype(1) === dtype ? b.x(1) : b.opWith("Cast", { to: dtype }, b.x(1)));
  const byBase = (): string => {
    const p = exponent();
    return b.mul(b.dy, b.mul(p, b.op("Pow", b.x(0), b.sub(p, b.f(1)))));
  };
  const byExponent = (): string => {
    const isZero = b.op("Equal", b.x(0), b.f(0));
    const log = b.op("Log", b.where(isZero, b.f(1), b.x(0)));
    return b.mul(b.dy, b.mul(b.y, log));
  };
  return [b.if(0, () => b.toInput(0, byBase())), b.if(1, () => b.toInput(1, byExponent()))];
};

/** The rule for Sum and Mean with any number of operands; Mean divides by the number. */
const variadic =
  (gradient: (b: Backward) => string): Rule =>
  (b) => {
    const own = gradient(b);
    return b.node.inputs.map((_, k) => b.if(k, () => b.toInput(k, own)));
  };

export const sum = variadic((b) => b.dy);
export const mean = variadic((b) => b.div(b.dy, b.f(b.node.inputs.length)));

/** Min and Max: the gradient goes to the first operand equal to the result. */
export const extreme: Rule = (b) => {
  let left = b.dy;
  return b.node.inputs.map((_, k) => {
    const isResult = b.op("Equal", b.x(k), b.y);
    const own = b.if(k, () => b.toInput(k, b.where(isResult, left, b.f(0))));
    if (k + 1 < b.node.inputs.length) left = b.where(isResult, b.f(0), left);
    return own;
  });
};

export const where: Rule = (b) => [
  undefined,
  b.if(1, () => b.toInput(1, b.where(b.x(0), b.dy, b.f(0)))),
  b.if(2, () => b.toInput(2, b.where(b.x(0), b.f(0), b.dy))),
];

export const cast: Rule = (b) => [b.opWith("Cast", { to: b.dtype(0) }, b.dy)];

export const identity: Rule = (b) => [b.dy];

/** a - b * trunc(a / b), of floats: the quotient counts as given. */
export const mod = binary(
  (b) => b.dy,
  (b) => b.mul(b.dy, b.div(b.sub(b.y, b.x(0)), b.x(1))),
);

/** The two values of a OneHot: each value takes the gradient from all elements showing the value. */
export const oneHot: Rule = (b) => {
  const isOn = b.opWith("OneHot", { axis: b.attributes.int("axis", -1) }, ...[b.x(0), b.x(1), b.tensor([0, 1], [2])]);
  const all = b.outputShape.map((_, d) => d);
  const on = b.mul(b.dy, isOn);
  const parts = [b.sub(b.dy, on), on].map((part) => b.shaped(b.sum(part, all, 0), [1]));
  return [undefined, undefined, b.opWith("Concat", { axis: 0 }, ...parts)];
};
