import type { Decision } from "./decision.ts";

/** Describes the deciding node: `ArgMax (node scores_argmax) of scores along axis -1`. */
export function decisionText(decision: Decision): string {
  const { node, operator, tensors } = decision;
  const head = `${operator} (node ${node}) of ${tensors.join(" and ")}`;
  switch (decision.kind) {
    case "argmax":
      return `${head} along axis ${decision.axis}`;
    case "topk":
      return `${head} along axis ${decision.axis}, ${decision.k} places`;
    case "rounding":
      return decision.decimals === undefined ? head : `${head}, ${decision.decimals} decimals`;
    case "token":
      return `the next token, of ${tensors[0]}`;
    default:
      return head;
  }
}

/** Describes how to read a decision's margin. */
export function marginText(decision: Decision): string {
  switch (decision.kind) {
    case "argmax":
      return decision.largest
        ? "the largest value minus the second largest of a row"
        : "the second least value minus the least of a row";
    case "topk":
      return (
        `the least gap of neighbours among the ${decision.k + 1} ` +
        `${decision.largest ? "largest" : "least"} values of a row`
      );
    case "comparison":
      return "the distance of the two values";
    case "rounding":
      if (decision.boundaries === "none") return END_OF_RANGE;
      return ROUNDING[decision.boundaries] + (decision.range === undefined ? "" : `, or ${END_OF_RANGE}`);
    case "sign":
      return "the distance to 0";
    case "token":
      return decision.drawn
        ? "the largest score minus the second largest; a score is logit / temperature plus a number by seed and " +
            "place; not read with top-p"
        : "the largest logit minus the second largest";
  }
}

const END_OF_RANGE = "the distance to the end of the type's range";

const ROUNDING = {
  halves: "the distance to the nearest half",
  whole: "the distance to the nearest whole number",
  wholeButZero: "the distance to the nearest whole number but 0",
} as const;
