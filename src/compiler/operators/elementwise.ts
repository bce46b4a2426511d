import type { Op } from "../../program/operations.ts";
import { DType, isDType } from "../../numerics/dtype.ts";
import { broadcast } from "../lowering/broadcast.ts";
import type { Expr, Expressions } from "../expressions/expression.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";
import type { LazyTensor } from "../expressions/tensor.ts";
import { binaryOperands } from "./beforeOpset7.ts";

/** An operator of one input that is one operation. */
export const unary =
  (op: Op): Lower =>
  (context) => [broadcast(context, [context.input(0)], (x) => context.expressions.operation(op, x))];

/** An operator of one float32 input whose expression needs attributes. */
export const activation =
  (build: (e: Expressions, x: Expr, context: NodeContext) => Expr): Lower =>
  (context) => [broadcast(context, [context.floatInput()], (x) => build(context.expressions, x, context))];

/** An operator of two broadcast inputs that is one operation. */
export const binary =
  (op: Op, swap = false): Lower =>
  (context) => {
    const inputs = binaryOperands(context);
    return [broadcast(context, inputs, (a, b) => context.expressions.operation(op, ...(swap ? [b, a] : [a, b])))];
  };

/** An operator of one or more broadcast inputs, folded from the left. */
export const variadic =
  (op: Op): Lower =>
  (context) => {
    const [first, ...others] = context.inputs.map((_, k) => context.input(k));
    if (first === undefined) return context.fail("it has no input");
    const fold = (a: LazyTensor, b: LazyTensor): LazyTensor =>
      broadcast(context, [a, b], (x, y) => context.expressions.operation(op, x, y));
    return [others.reduce(fold, first)];
  };

/** Where: a choice between two inputs. */
export const where: Lower = (context) => {
  const inputs = [0, 1, 2].map((k) => context.input(k));
  if (inputs[0]!.dtype !== DType.bool) context.fail("its condition is not bool");
  if (inputs[1]!.dtype !== inputs[2]!.dtype) context.fail("the two choices differ in type");
  return [broadcast(context, inputs, context.expressions.select, true)];
};

/** Cast to any type that is executed. */
export const cast: Lower = (context) => {
  const to = context.int("to", 0);
  // It matters only for the 8-bit floats, which are not executed.
  context.ignore("saturate", "round_mode");
  if (!isDType(to)) return context.refuse("to", `is element type ${to}, which is not executed here`);
  return [broadcast(context, [context.input(0)], (x) => context.expressions.cast(x, to))];
};

/** CastLike: the type of the second input. */
export const castLike: Lower = (context) => {
  context.ignore("saturate", "round_mode");
  return [broadcast(context, [context.input(0)], (x) => context.expressions.cast(x, context.input(1).dtype))];
};
