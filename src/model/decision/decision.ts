/** The properties shared by all decisions, as plain JSON. */
type Common = {
  /** The name of the deciding node, or the name of its first output if the node has no name. */
  node: string;
  /** Its operator. */
  operator: string;
  /** The names of the graph's deciding float values. */
  tensors: readonly string[];
  /** True if the decision depends on no input: comparing it once serves all executions. */
  constant?: true;
};

/** The place of the largest value (`largest` false: the least) along an axis. */
export type ArgumentDecision = Common & { kind: "argmax"; axis: number; largest: boolean };

/** The places of the k largest values (`largest` false: the least) along an axis, in their order. */
export type TopKDecision = Common & { kind: "topk"; axis: number; k: number; largest: boolean };

/** Compares two tensors element by element to find the larger; the tensors broadcast. */
type ComparisonDecision = Common & { kind: "comparison" };

/**
 * The boundaries between two results of a rounding: halves, whole numbers, or whole numbers except 0. With none, the
 * values converted to integers are already whole, or given, and only the type's range matters.
 */
export type RoundingBoundaries = "halves" | "whole" | "wholeButZero" | "none";

/** Rounding to a whole number. */
export type RoundingDecision = Common & {
  kind: "rounding";
  boundaries: RoundingBoundaries;
  /** For a conversion to integers: floats between these bounds lie in the type's range. */
  range?: readonly [below: number, above: number];
  /** The number of decimals kept, if a multiplication by ten to this power precedes the rounding. */
  decimals?: number;
};

/** Finds the sign of a value: positive, negative, or 0. */
type SignDecision = Common & { kind: "sign" };

/**
 * The next token of a wrapped decoder: the place of the largest logit for the text's last token. For a drawn token
 * (`drawn`), the place of the largest sum of logit / temperature and a random number from the seed, among the logits
 * left by top-k. No margin covers the end of top-p.
 */
export type TokenDecision = Common & { kind: "token"; drawn: boolean };

/**
 * A decision: a node with discrete output, whose float inputs depend on the order and rounding of sums. If its margin
 * exceeds the possible differences, its output agrees on every machine.
 */
export type Decision =
  ArgumentDecision | TopKDecision | ComparisonDecision | RoundingDecision | SignDecision | TokenDecision;

/** An output whose possible differences between machines are all decided. An output without decisions never differs. */
export type DecidedOutput = { name: string; decisions: readonly Decision[] };

/** An output that may differ between machines whatever the margins are. */
export type UndecidedOutput = { name: string; reason: string };

/** Whether an output is decided. */
export const isDecided = (output: DecidedOutput | UndecidedOutput): output is DecidedOutput => "decisions" in output;
