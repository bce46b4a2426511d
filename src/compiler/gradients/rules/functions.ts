import type { Backward, Rule } from "../backward.ts";

/** The rule of a function of one operand: the gradient times the derivative. */
export const times =
  (derivative: (b: Backward, x: string, y: string) => string): Rule =>
  (b) => [b.mul(b.dy, derivative(b, b.x(), b.y))];

/** The rule of a function of one operand: the gradient over the reciprocal of the derivative. */
export const over =
  (divisor: (b: Backward, x: string, y: string) => string): Rule =>
  (b) => [b.div(b.dy, divisor(b, b.x(), b.y))];

export const negated =
  (rule: Rule): Rule =>
  (b) =>
    rule(b).map((gradient) => gradient && b.neg(gradient));

export const square = (b: Backward, x: string): string => b.mul(x, x);
