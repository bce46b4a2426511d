import { DType } from "../../numerics/dtype.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";
import { contract, labelSizes, type Labelled } from "./contract.ts";

/** Labels of a term: one a letter, and `...k` for the dimensions of an ellipsis, counted from the right. */
function labelsOf(context: NodeContext, term: string, rank: number): string[] {
  const [before = "", after, extra] = term.split("...");
  if (extra !== undefined || !/^[A-Za-z]*$/.test(before + (after ?? "")))
    return context.refuse("equation", `has the term "${term}"`);
  if (after === undefined) return [...before];
  const hidden = rank - before.length - after.length;
  if (hidden < 0) return context.fail(`"${term}" for a tensor of rank ${rank}`);
  return [...before, ...Array.from({ length: hidden }, (_, k) => `...${hidden - k}`), ...after];
}

/** The dimension labels for each operand and for the result, and each label's size. */
type Equation = {
  terms: readonly (readonly string[])[];
  output: readonly string[];
  sizes: ReadonlyMap<string, number>;
};

/** Reads an Einsum's equation over the node's inputs. @throws UnsupportedOperatorError, NodeInputError */
export function readEquation(context: NodeContext): Equation {
  const [left = "", right] = context.string("equation", "").replaceAll(" ", "").split("->");
  const operands = left.split(",").map((term, k): Labelled => {
    const tensor = context.input(k);
    const labels = labelsOf(context, term, tensor.shape.length);
    if (labels.length !== tensor.shape.length)
      return context.fail(`"${term}" for a tensor of rank ${tensor.shape.length}`);
    if (tensor.dtype === DType.bool || tensor.dtype !== context.input(0).dtype)
      return context.fail("the operands differ in type");
    return { tensor, labels };
  });
  if (operands.length !== context.inputs.length) return context.fail(`${operands.length} terms`);
  const sizes = labelSizes(operands) ?? context.fail("the operands differ in a size");
  const all = operands.flatMap((operand) => operand.labels);
  const hidden = [...sizes.keys()].filter((label) => label.startsWith("..."));
  hidden.sort((a, b) => Number(b.slice(3)) - Number(a.slice(3)));
  const single = [...sizes.keys()].filter(
    (label) => !label.startsWith("...") && all.indexOf(label) === all.lastIndexOf(label),
  );
  const output =
    right === undefined ? [...hidden, ...single.sort()] : labelsOf(context, right, right.length - 3 + hidden.length);
  if (new Set(output).size !== output.length || output.some((label) => !sizes.has(label)))
    return context.refuse("equation", `has the output "${right}"`);
  return { terms: operands.map(({ labels }) => labels), output, sizes };
}

/**
 * Einsum: an exact dot for two operands; for more operands, pair by pair from the left, keeping all labels still
 * needed.
 */
export const einsum: Lower = (context) => {
  const { builder } = context;
  const { terms, output, sizes } = readEquation(context);
  const operands = terms.map((labels, k): Labelled => ({ tensor: context.input(k), labels }));
  let current = operands[0]!;
  for (let k = 1; k < operands.length; k++) {
    const later = new Set([...output, ...operands.slice(k + 1).flatMap((operand) => operand.labels)]);
    const kept = [...new Set([...current.labels, ...operands[k]!.labels])].filter((label) => later.has(label));
    const labels = k === operands.length - 1 ? output : kept;
    current = { tensor: contract(builder, [current, operands[k]!], labels, sizes), labels };
  }
  return [operands.length === 1 ? contract(builder, [current], output, sizes) : current.tensor];
};
