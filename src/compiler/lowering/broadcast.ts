import { elementCount } from "../../model/onnx/model.ts";
import type { ProgramBuilder } from "../steps/builder.ts";
import { commonRefinement } from "../expressions/digits.ts";
import { expressionSize } from "../steps/emit.ts";
import type { Expr, Expressions } from "../expressions/expression.ts";
import { identityOrder, type LazyTensor } from "../expressions/tensor.ts";
import type { NodeContext } from "./nodeContext.ts";
import { digitStarts, refine } from "../steps/views.ts";

/** Below a step's limits: one more node always fits. */
const SOFT_LIMITS = { reads: 11, inputs: 11, constants: 40, instructions: 40 };

/** The shape that shapes broadcast to, or undefined if they do not. */
export function broadcastShapes(shapes: readonly (readonly number[])[]): number[] | undefined {
  const rank = Math.max(0, ...shapes.map((shape) => shape.length));
  const result = new Array<number>(rank).fill(1);
  for (const shape of shapes) {
    for (const [k, dim] of shape.entries()) {
      const at = rank - shape.length + k;
      if (result[at] === 1) result[at] = dim;
      else if (dim !== 1 && dim !== result[at]) return undefined;
    }
  }
  return result;
}

/** Returns digits of `shape` refining every input's own digits; an input without a refinement gets memory. */
function commonDigits(builder: ProgramBuilder, inputs: readonly LazyTensor[], shape: readonly number[]): number[][] {
  return shape.map((dim, d) => {
    let fine: number[] | undefined = dim === 1 ? [] : [dim];
    for (const input of inputs) {
      const own = input.digits[d - shape.length + input.shape.length];
      if (own === undefined || own.length === 0) continue;
      fine = fine && commonRefinement(fine, own);
    }
    if (fine !== undefined) return fine;
    for (const input of inputs) if (input.digits.some((own) => own.length > 1)) builder.store(input, input.order);
    return [dim];
  });
}

function align(expressions: Expressions, input: LazyTensor, digits: readonly (readonly number[])[]): Expr {
  const shift = digits.length - input.shape.length;
  const starts = digitStarts(digits);
  const finer = input.digits.map((own, d) => ({
    radices: own.length === 0 ? [] : digits[d + shift]!,
    start: starts[d + shift]!,
  }));
  return refine(expressions, input, finer);
}

/** Gives memory to each input with fewer than `count` elements: no element is computed more than once. */
function realiseSmaller(builder: ProgramBuilder, inputs: readonly LazyTensor[], count: number): void {
  for (const input of inputs) if (elementCount(input.shape) < count) builder.realise(input);
}

/** A step holds one reduction: of several, all but the last made get memory. */
function realiseOtherReductions(
  builder: ProgramBuilder,
  inputs: readonly LazyTensor[],
  aligned: readonly Expr[],
): boolean {
  const all = new Set(aligned.flatMap((e) => e.accumulators));
  if (all.size <= 1) return false;
  const last = [...all].reduce((a, b) => (a.id > b.id ? a : b));
  const keep = aligned.findIndex((e) => e.accumulators.length === 1 && e.accumulators[0] === last);
  inputs.forEach((input, k) => {
    if (k !== keep && input !== inputs[keep] && input.expr.accumulators.length > 0) builder.realise(input);
  });
  if (keep < 0 || inputs[keep]!.expr.accumulators.length > 1) for (const input of inputs) builder.realise(input);
  return true;
}

const within = (expr: Expr): boolean => {
  const size = expressionSize(expr);
  return (Object.keys(SOFT_LIMITS) as (keyof typeof SOFT_LIMITS)[]).every((key) => size[key] <= SOFT_LIMITS[key]);
};

/**
 * Combines tensors with one broadcast shape element by element. Inputs stay lazy, and fuse, if fusing computes nothing
 * twice and fits a step.
 * @param shape The inputs' broadcast shape (or a larger shape).
 */
export function combine(
  builder: ProgramBuilder,
  inputs: readonly LazyTensor[],
  shape: readonly number[],
  build: (...args: Expr[]) => Expr,
): LazyTensor {
  const { expressions } = builder;
  realiseSmaller(builder, inputs, elementCount(shape));
  const attempt = (): { digits: number[][]; aligned: Expr[] } => {
    let digits = commonDigits(builder, inputs, shape);
    digits = commonDigits(builder, inputs, shape);
    return { digits, aligned: inputs.map((input) => align(expressions, input, digits)) };
  };
  let { digits, aligned } = attempt();
  if (realiseOtherReductions(builder, inputs, aligned)) ({ digits, aligned } = attempt());
  let expr = build(...aligned);
  if (!within(expr)) {
    for (const input of inputs) builder.realise(input);
    ({ digits, aligned } = attempt());
    expr = build(...aligned);
  }
  return { dtype: expr.dtype, shape, digits, expr, order: commonOrder(inputs, shape) };
}

/**
 * Returns the storage order of the full-shape inputs: a reduction's order first, else the first order other than
 * row-major.
 */
function commonOrder(inputs: readonly LazyTensor[], shape: readonly number[]): readonly number[] {
  const rowMajor = identityOrder(shape.length);
  const full = inputs.filter((i) => i.shape.length === shape.length && i.shape.every((dim, d) => dim === shape[d]));
  const reduced = full.find((input) => input.expr.accumulators.length > 0);
  const permuted = full.find((input) => input.order.some((dim, d) => dim !== rowMajor[d]));
  return reduced?.order ?? permuted?.order ?? rowMajor;
}

/** Combines tensors with equal type (except where `mixed`) under broadcasting. */
export function broadcast(
  context: NodeContext,
  inputs: readonly LazyTensor[],
  build: (...args: Expr[]) => Expr,
  mixed = false,
): LazyTensor {
  const shape = broadcastShapes(inputs.map((input) => input.shape));
  if (shape === undefined)
    context.fail(`shapes ${inputs.map((i) => `[${i.shape.join()}]`).join(" and ")} do not broadcast`);
  if (!mixed && inputs.some((input) => input.dtype !== inputs[0]!.dtype)) context.fail("the inputs differ in type");
  return combine(context.builder, inputs, shape, build);
}

/** The sum of two tensors under broadcasting. */
export const addTensors = (context: NodeContext, a: LazyTensor, b: LazyTensor): LazyTensor =>
  broadcast(context, [a, b], context.expressions.add);
