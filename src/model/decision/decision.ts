/** What all decisions have. It is plain JSON. */
type Common = {
  /** The node that decides, by its name, or by that of its first output where it has none. */
  node: string;
  /** Its operator. */
  operator: string;
  /** The float values of the graph that decide, by name. */
  tensors: readonly string[];
  /** Whether it depends on no input: what it decides can be compared once, for all executions. */
  constant?: true;
};

/** The place of the largest value (`largest` false: the least) along an axis. */
export type ArgumentDecision = Common & { kind: "argmax"; axis: number; largest: boolean };

/** The places of the k largest values (`largest` false: the least) along an axis, in their order. */
export type TopKDecision = Common & { kind: "topk"; axis: number; k: number; largest: boolean };

/** Which of two tensors is larger, element by element; they broadcast. */
type ComparisonDecision = Common & { kind: "comparison" };

/**
 * Where the boundaries between two results of a rounding lie: halves, whole numbers, whole numbers but 0; none where
 * what is converted to integers is whole already, or given, so that only the range of the type matters.
 */
export type RoundingBoundaries = "halves" | "whole" | "wholeButZero" | "none";

/** Rounding to a whole number. */
export type RoundingDecision = Common & {
  kind: "rounding";
  boundaries: RoundingBoundaries;
  /** Of a conversion to integers: the floats between these are in the range of the type. */
  range?: readonly [below: number, above: number];
  /** The decimals that are kept, where what is rounded was multiplied by that power of ten before. */
  decimals?: number;
};

/** On which side of 0 a value lies, or whether it is 0. */
type SignDecision = Common & { kind: "sign" };

/**
 * The next token of a wrapped decoder: the place of the largest logit of its text's last token. Where it is drawn
 * (`drawn`), it is the place of the largest sum of logit / temperature and a random number that follows from the seed,
 * among those that top-k leaves; no margin is read of where top-p ends.
 */
export type TokenDecision = Common & { kind: "token"; drawn: boolean };

/**
 * A decision: a node whose inputs are floats that depend on the order and the rounding of sums, and whose output is
 * discrete. Where its margin exceeds what such differences can be, its output is the same on every machine.
 */
export type Decision =
  ArgumentDecision | TopKDecision | ComparisonDecision | RoundingDecision | SignDecision | TokenDecision;

/** An output of which all that can differ between machines is decided. Without decisions it never differs. */
export type DecidedOutput = { name: string; decisions: readonly Decision[] };

/** An output that may differ between machines whatever the margins are. */
export type UndecidedOutput = { name: string; reason: string };

/** Whether an output is decided. */
export const isDecided = (output: DecidedOutput | UndecidedOutput): output is DecidedOutput => "decisions" in output;
