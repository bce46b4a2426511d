import type { LazyTensor } from "../expressions/tensor.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";
import { withinCount } from "../bounded/read.ts";
import type { TensorRow } from "../table/row.ts";

export const WHY_BOUNDED =
  "has a size that is not known at compile time, and this node may not read it: let the model end before the " +
  'node (it has a count beside it), or give the node what is known (docs/operators.md, "Sizes that depend on data")';

/**
 * Lowers a node whose tensors may be bounded: have room for more elements than there are, zeros behind the count. The
 * rule of the operator's row says how the node may read such tensors, and along which axis the results have the count.
 * Elements that the node computes behind the count are replaced by zeros.
 */
export function lowerBounded(context: NodeContext, { bounded: rule }: TensorRow, lower: Lower): ReturnType<Lower> {
  const { inputs } = context;
  const places = inputs.flatMap((input, k) =>
    input?.bounded === undefined ? [] : [{ input: k, axis: input.bounded.axis, count: input.bounded.count }],
  );
  const [first] = places;
  if (first === undefined) return lower(context);
  if (rule === "refused") return context.refuse(`input ${first.input}`, WHY_BOUNDED);
  const other = places.find(({ count }) => count !== first.count);
  if (other !== undefined)
    context.refuse(`input ${other.input}`, `has another count than input ${first.input}: their sizes may differ`);
  const plain = context.withInputs(inputs.map((input) => input && withoutBound(input)));
  const read = rule(plain, places, lower);
  if (read.outputs !== undefined) return [...read.outputs];
  const bounded = { axis: read.axis, count: read.count ?? first.count };
  return lower(read.context ?? plain).map((output) => {
    if (output === undefined) return undefined;
    return { ...(read.moves ? output : withinCount(plain, output, bounded)), bounded };
  });
}

function withoutBound(tensor: LazyTensor): LazyTensor {
  const plain = { ...tensor };
  delete plain.bounded;
  return plain;
}
