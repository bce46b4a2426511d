import type { Lower, NodeContext } from "../lowering/nodeContext.ts";

/** Operators that change elements or dimensions one by one, so that a bounded result is one after them too. */
const KEEPS: ReadonlySet<string> = new Set(["Cast", "Identity", "Transpose"]);

export const WHY_BOUNDED =
  "has a size that is not known at compile time: it may be an output of the model, with a count beside it, and only " +
  "Cast, Identity and Transpose may read it";

/**
 * Lowers a node whose tensors may be bounded: have room for more elements than there are. What is behind them is no
 * part of the value, so that no operator may compute with it.
 */
export function lowerBounded(context: NodeContext, lower: Lower): ReturnType<Lower> {
  const { node, inputs } = context;
  const at = inputs.findIndex((input) => input?.bounded !== undefined);
  if (at < 0) return lower(context);
  if (!KEEPS.has(node.operator) || node.domain !== "") return context.refuse(`input ${at}`, WHY_BOUNDED);
  const { bounded, shape } = inputs[at]!;
  const { axis, count } = bounded!;
  const moved = node.operator === "Transpose" ? (context.ints("perm") ?? shape.map((_, d) => d).reverse()) : undefined;
  return lower(context).map(
    (output) => output && { ...output, bounded: { axis: moved?.indexOf(axis) ?? axis, count } },
  );
}
