/** The parts of the rules for bounded tensors. */
import { getOrAdd } from "../../base/getOrAdd.ts";
import type { Expr } from "../expressions/expression.ts";
import type { Bounded, LazyTensor } from "../expressions/tensor.ts";
import { broadcast } from "../lowering/broadcast.ts";
import { indexTensor } from "../lowering/indices.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";

/** A bounded input: along which axis, and how many are there. */
export type Place = { input: number; axis: number; count: LazyTensor };

/**
 * The results of a node with bounded inputs: results bounded along an axis, or finished results.
 *
 * `moves`: the elements behind the count stay 0 and need not be replaced. `count`: the results' count, if different
 * from the inputs' count. `context`: other inputs for the operator.
 */
type BoundedRead =
  | { axis: number; moves?: boolean; count?: LazyTensor; context?: NodeContext; outputs?: undefined }
  | { outputs: readonly (LazyTensor | undefined)[] };

/** @param context The node with inputs treated as whole tensors. */
export type BoundedRule = (context: NodeContext, places: readonly Place[], lower: Lower) => BoundedRead;

/** Refuses a node that would have to know the size. */
export const refuseAlong = (context: NodeContext, input: number, what: string): never =>
  context.refuse(`input ${input}`, `has a size along this axis that is not known at compile time: ${what}`);

/** Returns the bounded input. Input 0 must be the only bounded input. */
export function onlyFirst(context: NodeContext, places: readonly Place[]): Place {
  const other = places.find(({ input }) => input !== 0);
  return other === undefined ? places[0]! : refuseAlong(context, other.input, "only input 0 may have one");
}

/** For each count and bound, the flags of the elements within the count: computed once. */
const there = new WeakMap<LazyTensor, Map<number, LazyTensor>>();

function isThere(context: NodeContext, count: LazyTensor, bound: number): LazyTensor {
  const known = getOrAdd(there, count, () => new Map<number, LazyTensor>());
  return getOrAdd(known, bound, () => {
    const made = broadcast(context, [indexTensor(context.expressions, [bound], 0), count], context.expressions.lt);
    context.builder.realise(made);
    return made;
  });
}

/** A tensor whose elements from the count on are replaced: by 0, or by what `behind` gives. */
export function withinCount(
  context: NodeContext,
  tensor: LazyTensor,
  { axis, count }: Bounded,
  behind: (value: Expr) => Expr = (value) => context.expressions.constant(value.dtype, 0n),
): LazyTensor {
  const { builder, expressions: e } = context;
  const { narrow, shape } = tensor;
  const line = shape.map((dim, d) => (d === axis ? dim : 1));
  const inside = builder.reshape(isThere(context, count, shape[axis]!), line);
  const chosen = broadcast(context, [tensor, inside], (value, is) => e.select(is, value, behind(value)), true);
  return { ...chosen, ...(narrow && { narrow }) };
}
