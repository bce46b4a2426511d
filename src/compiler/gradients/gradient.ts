import type { Rule } from "./backward.ts";

type Limits = {
  /** Inputs of floats that have no gradient: bounds, given moments, weights of classes. */
  without?: readonly number[];
  /** Which nodes are refused or which inputs have no gradient, in words, for docs/operators.md. */
  limits?: string;
};

/**
 * How an operator is differentiated: by a rule, or not, with the reason for the refusal and the user's options.
 *
 * A `rule` computes the inputs' gradients from the outputs' gradients; a function alone is a rule. `allOutputs`: the
 * rule takes all outputs' gradients, not only the first.
 *
 * A `composition` writes the node in operators with gradients, and gives the output names. The written nodes are
 * differentiated in turn, and evaluated in addition to the node. The node's own outputs stay unchanged.
 */
export type Gradient =
  Rule | ({ rule: Rule; allOutputs?: true } & Limits) | ({ composition: Rule } & Limits) | { refused: string };
