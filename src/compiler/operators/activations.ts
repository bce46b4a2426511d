import { isFloat } from "../../numerics/dtype.ts";
import type { Expr } from "../expressions/expression.ts";
import type { Lower } from "../lowering/nodeContext.ts";
import type { LazyTensor } from "../expressions/tensor.ts";
import { numberWord } from "../../numerics/numbers.ts";
import { activation } from "./elementwise.ts";
import { integerPower } from "./integerPower.ts";
import { binaryOperands, slopeOperand } from "./beforeOpset7.ts";
import { broadcast } from "../lowering/broadcast.ts";

/** `max(x, 0)`. */
export const relu: Lower = (context) => {
  const input = context.input(0);
  const zero = context.expressions.constant(input.dtype, 0n);
  return [broadcast(context, [input], (x) => context.expressions.max(x, zero))];
};

/** `x < 0 ? alpha * x : x`. */
export const leakyRelu = activation((e, x, context) => {
  const alpha = e.float(context.float("alpha", 0.01));
  return e.select(e.lt(x, e.float(0)), e.mul(alpha, x), x);
});

/** `x < 0 ? slope * x : x`, the slope broadcast to x. */
export const pRelu: Lower = (context) => {
  const e = context.expressions;
  const [x, slope] = [context.input(0), slopeOperand(context)];
  const build = (a: Expr, s: Expr): Expr => e.select(e.lt(a, e.constant(a.dtype, 0n)), e.mul(s, a), a);
  return [broadcast(context, [x, slope], build)];
};

/** `x > alpha ? x : 0`. */
export const thresholdedRelu = activation((e, x, context) => {
  const alpha = e.float(context.float("alpha", 1));
  return e.select(e.lt(alpha, x), x, e.float(0));
});

/** `max(0, min(1, alpha * x + beta))`, product and sum rounded. */
export const hardSigmoid = activation((e, x, context) => {
  const product = e.mul(e.float(context.float("alpha", Math.fround(0.2))), x);
  const sum = e.add(product, e.float(context.float("beta", 0.5)));
  return e.clamp(sum, e.float(0), e.float(1));
});

/** `x * max(0, min(1, x / 6 + 1 / 2))`, with 1 / 6 rounded to float32 as ONNX's body has it. */
export const hardSwish = activation((e, x) => {
  const sum = e.add(e.mul(e.float(1 / 6), x), e.float(0.5));
  return e.mul(x, e.clamp(sum, e.float(0), e.float(1)));
});

/** `x / (1 + |x|)`. */
export const softsign = activation((e, x) => e.div(x, e.add(e.float(1), e.abs(x))));

/** `1 / x`. */
export const reciprocal = activation((e, x) => e.div(e.like(x, 1), x));

/**
 * `(0.5 * x) * (1 + erf(x / sqrt 2))`; with `approximate` = tanh `(0.5 * x) * (1 + tanh(c * (x + 0.044715 * x^3)))`.
 */
export const gelu = activation((e, x, context) => {
  const half = e.mul(e.float(0.5), x);
  const approximate = context.string("approximate", "none");
  if (approximate === "none") {
    const inner = e.erf(e.div(x, e.float(Math.SQRT2)));
    return e.mul(half, e.add(e.float(1), inner));
  }
  if (approximate !== "tanh") context.refuse("approximate", `is ${approximate}`);
  const cube = e.mul(e.mul(x, x), x);
  const sum = e.add(x, e.mul(e.float(0.044715), cube));
  const inner = e.tanh(e.mul(e.float(0.7978845608028654), sum));
  return e.mul(half, e.add(e.float(1), inner));
});

/** `min(max(x, low), high)`, for the bounds that exist; the bounds are attributes before opset 11, then inputs. */
export const clip: Lower = (context) => {
  const e = context.expressions;
  const input = context.input(0);
  const bound = (index: number, name: string): LazyTensor | undefined => {
    if (context.opset >= 11) return context.optional(index);
    if (!isFloat(input.dtype)) context.refuse("input 0", "is not float32");
    return context.has(name) ? context.scalar(input.dtype, numberWord(context.float(name, 0), input.dtype)) : undefined;
  };
  const [low, high] = [bound(1, "min"), bound(2, "max")];
  if ([...(low?.shape ?? []), ...(high?.shape ?? [])].some((dim) => dim !== 1))
    context.fail("its bounds are not scalars");
  const scalar = (tensor: LazyTensor): LazyTensor => context.builder.reshape(tensor, []);
  let result = input;
  if (low !== undefined) result = broadcast(context, [result, scalar(low)], e.max);
  if (high !== undefined) result = broadcast(context, [result, scalar(high)], e.min);
  return [result];
};

/** x to the power y, in the type of x; a constant exponent 2 is `x * x`. */
export const pow: Lower = (context) => {
  const e = context.expressions;
  const [base, exponent] = binaryOperands(context) as [LazyTensor, LazyTensor];
  const two = numberWord(2, exponent.dtype);
  const square = exponent.expr.kind === "constant" && exponent.expr.value === two;
  if (!square && !isFloat(base.dtype)) return [integerPower(context, base, exponent)];
  const build = (x: Expr, y: Expr): Expr => (square ? e.mul(x, x) : e.pow(x, e.cast(y, x.dtype)));
  return [broadcast(context, [base, exponent], build, true)];
};

/** `x > lambd ? x - bias : x < -lambd ? x + bias : 0`. */
export const shrink = activation((e, x, context) => {
  const lambda = context.float("lambd", 0.5);
  const bias = e.float(context.float("bias", 0));
  const low = e.select(e.lt(x, e.float(-lambda)), e.add(x, bias), e.float(0));
  return e.select(e.lt(e.float(lambda), x), e.sub(x, bias), low);
});

/** The mean of its inputs: their sum from the left, divided by their number. */
export const mean: Lower = (context) => {
  const e = context.expressions;
  const first = context.input(0);
  const inputs = context.inputs.map((_, k) => context.input(k));
  const sum = inputs.slice(1).reduce((a, b) => broadcast(context, [a, b], e.add), first);
  return [broadcast(context, [sum], (x) => e.div(x, e.like(x, inputs.length)))];
};

/** fmod = 0: integers, with the sign of the divisor; fmod = 1: with the sign of the dividend. */
export const mod: Lower = (context) => {
  const e = context.expressions;
  const inputs = [context.input(0), context.input(1)];
  const fmod = context.int("fmod", 0) === 1;
  if (!fmod && isFloat(inputs[0]!.dtype)) context.refuse("fmod", "must be 1 for float32");
  return [broadcast(context, inputs, fmod ? e.fmod : e.mod)];
};

/** BitShift by its direction. */
export const bitShift: Lower = (context) => {
  const direction = context.string("direction", "");
  if (direction !== "LEFT" && direction !== "RIGHT") context.refuse("direction", `is "${direction}"`);
  const e = context.expressions;
  const shift = direction === "LEFT" ? e.shl : e.shr;
  return [broadcast(context, [context.input(0), context.input(1)], shift)];
};

/** IsInf with its two flags. */
export const isInf = activation((e, x, context) => {
  const positive = context.int("detect_positive", 1) !== 0;
  const negative = context.int("detect_negative", 1) !== 0;
  if (positive && negative) return e.isInf(x);
  if (!positive && !negative) context.refuse("detect_positive", "and detect_negative are both 0");
  return e.eq(x, e.like(x, positive ? Infinity : -Infinity));
});

/** `x * sigmoid(alpha * x)`. */
export const swish = activation((e, x, context) => {
  const alpha = context.float("alpha", 1);
  const inner = alpha === 1 ? x : e.mul(e.float(alpha), x);
  return e.mul(x, e.sigmoid(inner));
});
