import { around, childOf, type Node } from "../instrument/ast.ts";
import { HEAR } from "../instrument/listener.ts";

const STATEMENTS = new Set([
  "YulAssignment",
  "YulExpressionStatement",
  "YulVariableDeclaration",
  "YulIf",
  "YulForLoop",
  "YulSwitch",
  "YulLeave",
  "YulBreak",
  "YulContinue",
]);

const POINTS = `${HEAR}
function coveredIf(coveredId, coveredCondition) -> coveredDecision {
  coveredDecision := coveredCondition
  listenerHear(add(coveredId, iszero(coveredCondition)))
}
`;

/**
 * Rewrites an assembly block with reports for each executed statement, for both ways of each `if` and loop, and for
 * each `switch` case.
 * @param point Numbers a point, in ascending order.
 */
export function withYulPoints(
  block: Node,
  text: (from: number, to: number) => string,
  point: (node: Node, branch: boolean, what: string) => number,
): string {
  const words = (node: Node): string => text(node.start, node.end).split("\n")[0]!;

  const inside = (node: Node): string => around(node, text, render);

  const condition = (node: Node): string => {
    const id = point(node, true, `${words(node)} holds`);
    point(node, true, `${words(node)} does not hold`);
    return `coveredIf(${id}, ${text(node.start, node.end)})`;
  };

  function render(node: Node): string {
    if (!STATEMENTS.has(node.type)) return part(node);
    return `listenerHear(${point(node, false, words(node))}) ${statement(node)}`;
  }

  function statement(node: Node): string {
    if (node.type !== "YulIf" && node.type !== "YulForLoop") return inside(node);
    const [decision, body] = [childOf(node, "condition"), childOf(node, "body")];
    const head = text(node.start, decision.start) + condition(decision) + text(decision.end, body.start);
    return head + inside(body);
  }

  function part(node: Node): string {
    if (node.type !== "YulCase") return inside(node);
    const body = childOf(node, "body");
    const head = text(node.start, body.start);
    const id = point(node, true, head.trim());
    return head + inside(body).replace("{", () => `{ listenerHear(${id})`);
  }

  return inside(block).replace("{", () => `{${POINTS}`);
}
