import { around, childOf, isFree, parse, type Node } from "../instrument/ast.ts";
import { withYulPoints } from "./yul.ts";

/** An event that a test should cause: an executed statement, a true condition, or a false condition. */
export type Point = { id: number; file: string; line: number; branch: boolean; what: string };

const STATEMENTS = new Set([
  "ExpressionStatement",
  "VariableDeclarationStatement",
  "EmitStatement",
  "RevertStatement",
  "Return",
  "Continue",
  "Break",
  "IfStatement",
  "ForStatement",
  "WhileStatement",
  "InlineAssembly",
]);
const LEFT_ALONE = new Set(["VariableDeclaration", "ModifierInvocation", "UserDefinedTypeName"]);
const LOGICAL = new Set(["&&", "||"]);

/**
 * Rewrites a Solidity file to report each executed statement and each condition's value: in
 * `if`, `?:`, loops and `require`, and the operands of `&&` and `||`. Assembly is rewritten likewise.
 * @param firstId Id of the first point.
 */
export function withPoints(file: string, source: string, firstId: number): { source: string; points: Point[] } {
  const bytes = Buffer.from(source);
  const points: Point[] = [];
  const text = (from: number, to: number): string => bytes.subarray(from, to).toString();
  const point = (node: Node, branch: boolean, what: string): number => {
    const id = firstId + points.length;
    points.push({ id, file, line: text(0, node.start).split("\n").length, branch, what: what.replace(/\s+/g, " ") });
    return id;
  };

  /** Renders a node, with some children rendered in another way. */
  const within = (node: Node, inside: boolean, special?: Map<number, (child: Node) => string>): string =>
    around(node, text, (child) => special?.get(child.start)?.(child) ?? render(child, inside));

  const condition = (node: Node): string => {
    if (node.type === "BinaryOperation" && LOGICAL.has(String(node.fields["operator"]))) return render(node, true);
    const words = text(node.start, node.end);
    const id = point(node, true, `${words} holds`);
    point(node, true, `${words} does not hold`);
    return `Coverage.decide(${id}, ${render(node, true)})`;
  };

  const conditionIn = (node: Node, name: string): Map<number, (child: Node) => string> =>
    node.fields[name] ? new Map([[childOf(node, name).start, condition]]) : new Map<number, (child: Node) => string>();

  function render(node: Node, inside: boolean): string {
    if (LEFT_ALONE.has(node.type) || isFree(node)) return text(node.start, node.end);
    const body = inside || node.type === "Block";
    if (!body) return within(node, false);
    if (!STATEMENTS.has(node.type)) return expression(node);
    const id = point(node, false, text(node.start, node.end).split("\n")[0]!);
    const rendered = statement(node);
    return `Coverage.at(${id}); ${rendered}`;
  }

  function statement(node: Node): string {
    if (node.type === "InlineAssembly") {
      const block = childOf(node, "AST");
      return text(node.start, block.start) + withYulPoints(block, text, point) + text(block.end, node.end);
    }
    if (node.type === "IfStatement") {
      const special = conditionIn(node, "condition");
      for (const name of ["trueBody", "falseBody"])
        if (node.fields[name]) special.set(childOf(node, name).start, inBraces);
      return within(node, true, special);
    }
    if (node.type === "ForStatement" || node.type === "WhileStatement") {
      const special = conditionIn(node, "condition");
      for (const name of ["initializationExpression", "loopExpression"])
        if (node.fields[name]) special.set(childOf(node, name).start, (child) => text(child.start, child.end));
      special.set(childOf(node, "body").start, inBraces);
      return within(node, true, special);
    }
    return within(node, true);
  }

  const inBraces = (node: Node): string => (node.type === "Block" ? render(node, true) : `{ ${render(node, true)} }`);

  function expression(node: Node): string {
    if (node.type === "Conditional") return within(node, true, conditionIn(node, "condition"));
    if (node.type === "BinaryOperation" && LOGICAL.has(String(node.fields["operator"])))
      return `(${within(
        node,
        true,
        new Map([
          [childOf(node, "leftExpression").start, condition],
          [childOf(node, "rightExpression").start, condition],
        ]),
      )})`;
    if (node.type === "FunctionCall" && /^require\b/.test(text(node.start, node.end))) {
      const first = Number((node.fields["arguments"] as { src: string }[])[0]!.src.split(":")[0]);
      return within(node, true, new Map([[first, condition]]));
    }
    return within(node, true);
  }

  const tree = parse(source);
  return { source: text(0, tree.start) + render(tree, false), points };
}
