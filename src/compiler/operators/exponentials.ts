import type { Expr, Expressions } from "../expressions/expression.ts";
import { activation } from "./elementwise.ts";

/** `alpha * expm1(x)`, the part of Elu, Selu and Celu below 0. */
const below = (e: Expressions, alpha: Expr, x: Expr): Expr => e.mul(alpha, e.expm1(x));

/** `x < 0 ? alpha * expm1(x) : x`. */
export const elu = activation((e, x, context) => {
  const alpha = e.float(context.float("alpha", 1));
  return e.select(e.lt(x, e.float(0)), below(e, alpha, x), x);
});

/** `gamma * (x < 0 ? alpha * expm1(x) : x)`, with the defaults of opset 6. */
export const selu = activation((e, x, context) => {
  const alpha = e.float(context.float("alpha", 1.67326319217681884765625));
  const gamma = e.float(context.float("gamma", 1.05070102214813232421875));
  return e.mul(gamma, e.select(e.lt(x, e.float(0)), below(e, alpha, x), x));
});

/** `max(0, x) + min(0, alpha * expm1(x / alpha))`. */
export const celu = activation((e, x, context) => {
  const alpha = e.float(context.float("alpha", 1));
  const zero = e.float(0);
  const negative = e.min(zero, below(e, alpha, e.div(x, alpha)));
  return e.add(e.max(zero, x), negative);
});

/** `max(x, 0) + log1p(exp(-|x|))`. */
function softplusOf(e: Expressions, x: Expr): Expr {
  const power = e.exp(e.neg(e.abs(x)));
  return e.add(e.max(x, e.float(0)), e.log1p(power));
}

/** The logarithm of `1 + exp(x)`. */
export const softplus = activation((e, x) => softplusOf(e, x));

/** `x * tanh(softplus(x))`. */
export const mish = activation((e, x) => e.mul(x, e.tanh(softplusOf(e, x))));
