import type { Op } from "../../program/operations.ts";
import { DType, isDType, type DType as DTypeCode } from "../../numerics/dtype.ts";
import { narrowTypeOf, type NarrowType } from "../../numerics/narrow.ts";
import { broadcast } from "../lowering/broadcast.ts";
import type { Expr, Expressions } from "../expressions/expression.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";
import type { LazyTensor } from "../expressions/tensor.ts";
import { binaryOperands } from "./beforeOpset7.ts";
import { narrowed, narrowRounding, widened } from "./narrow.ts";

/** An operator with one input and one operation. */
export const unary =
  (op: Op): Lower =>
  (context) => [broadcast(context, [context.input(0)], (x) => context.expressions.operation(op, x))];

/** An operator with a float32 input and an expression that needs attributes. */
export const activation =
  (build: (e: Expressions, x: Expr, context: NodeContext) => Expr): Lower =>
  (context) => [broadcast(context, [context.floatInput()], (x) => build(context.expressions, x, context))];

/** An operator with two broadcast inputs and one operation. */
export const binary =
  (op: Op, swap = false): Lower =>
  (context) => {
    const inputs = binaryOperands(context);
    return [broadcast(context, inputs, (a, b) => context.expressions.operation(op, ...(swap ? [b, a] : [a, b])))];
  };

/** An operator with one or more broadcast inputs, folded from the left. */
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

/** A tensor in another type. */
function castTo(context: NodeContext, type: DTypeCode | NarrowType): LazyTensor {
  const rounding = narrowRounding(context);
  const x = widened(context, context.input(0));
  if (typeof type === "string") return narrowed(context, x, type, rounding);
  return broadcast(context, [x], (v) => context.expressions.cast(v, type));
}

/** Cast to any type that is executed. */
export const cast: Lower = (context) => {
  const to = context.int("to", 0);
  const narrow = narrowTypeOf(to);
  if (narrow === undefined && !isDType(to))
    return context.refuse("to", `is element type ${to}, which is not executed here`);
  return [castTo(context, narrow ?? (to as DTypeCode))];
};

/** CastLike: the type of the second input. */
export const castLike: Lower = (context) => {
  const { dtype, narrow } = context.input(1);
  return [castTo(context, narrow ?? dtype)];
};
