import type { Backward, Rule } from "../backward.ts";

/** A function of one operand, by its derivative or by what the gradient becomes. */
const times =
  (derivative: (b: Backward, x: string, y: string) => string): Rule =>
  (b) => [b.mul(b.dy, derivative(b, b.x(), b.y))];

const over =
  (divisor: (b: Backward, x: string, y: string) => string): Rule =>
  (b) => [b.div(b.dy, divisor(b, b.x(), b.y))];

const square = (b: Backward, x: string): string => b.mul(x, x);
const negated =
  (rule: Rule): Rule =>
  (b) =>
    rule(b).map((gradient) => gradient && b.neg(gradient));

export const neg: Rule = (b) => [b.neg(b.dy)];
export const abs = times((b, x) => b.op("Sign", x));
export const reciprocal = negated(times((b, _, y) => square(b, y)));
export const sqrt = over((b, _, y) => b.add(y, y));
export const exp = times((_, __, y) => y);
export const log = over((_, x) => x);
export const sin = times((b, x) => b.op("Cos", x));
export const cos = negated(times((b, x) => b.op("Sin", x)));
export const tan = times((b, _, y) => b.add(b.f(1), square(b, y)));
export const asin = over((b, x) => b.op("Sqrt", b.sub(b.f(1), square(b, x))));
export const acos = negated(asin);
export const atan = over((b, x) => b.add(b.f(1), square(b, x)));
export const sinh = times((b, x) => b.op("Cosh", x));
export const cosh = times((b, x) => b.op("Sinh", x));
export const tanh = times((b, _, y) => b.sub(b.f(1), square(b, y)));
export const asinh = over((b, x) => b.op("Sqrt", b.add(square(b, x), b.f(1))));
export const acosh = over((b, x) => b.op("Sqrt", b.sub(square(b, x), b.f(1))));
export const atanh = over((b, x) => b.sub(b.f(1), square(b, x)));
export const erf = times((b, x) => b.mul(b.f(2 / Math.sqrt(Math.PI)), b.op("Exp", b.neg(square(b, x)))));
export const sigmoid = times((b, _, y) => b.mul(y, b.sub(b.f(1), y)));
export const softplus = times((b, x) => b.op("Sigmoid", x));
export const softsign = over((b, x) => square(b, b.add(b.f(1), b.op("Abs", x))));
