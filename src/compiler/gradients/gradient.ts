import type { Rule } from "./backward.ts";

type Limits = {
  /** Inputs of floats that have no gradient: bounds, given moments, weights of classes. */
  without?: readonly number[];
  /** Which nodes are refused or which inputs have no gradient, in words, for docs/operators.md. */
  limits?: string;
};

/**
 * How an operator is differentiated: a rule, or the reason why its nodes are refused and what the user can do.
 *
 * A `rule` gives the gradients of the inputs from the gradients of the outputs; a function alone is a rule.
 * `allOutputs`: the rule takes the gradients of all outputs, not only of the first.
 *
 * A `composition` writes the node in operators that have a gradient, and gives the names of its outputs. The written
 * nodes are differentiated in turn, and evaluated beside the node, whose own outputs stay as they are.
 */
export type Gradient =
  Rule | ({ rule: Rule; allOutputs?: true } & Limits) | ({ composition: Rule } & Limits) | { refused: string };
