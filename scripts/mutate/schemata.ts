import { childOf, parse, type Node } from "./ast.ts";

/** One small change of a contract, which a good test notices. */
export type Mutant = { id: number; file: string; line: number; change: string };

const OPERATORS: Readonly<Record<string, string>> = {
  "+": "-",
  "-": "+",
  "*": "/",
  "/": "*",
  "%": "*",
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "==": "!=",
  "!=": "==",
  "&&": "||",
  "||": "&&",
  "<<": ">>",
  ">>": "<<",
};
const ASSIGNMENTS: Readonly<Record<string, string>> = { "+=": "-=", "-=": "+=", "|=": "&=", "&=": "|=" };
/** Not executed, or not in words that a condition may stand in. */
const LEFT_ALONE = new Set(["InlineAssembly", "VariableDeclaration", "ModifierInvocation", "UserDefinedTypeName"]);

/**
 * A Solidity file that holds all its mutants at once, each behind `Mutants.on(id)`: one build for all ("mutant schemata", Untch,
 * Offutt and Harrold, 1993).
 * @param firstId Id of the first mutant.
 */
export function withMutants(file: string, source: string, firstId: number): { source: string; mutants: Mutant[] } {
  const bytes = Buffer.from(source);
  const mutants: Mutant[] = [];
  const text = (from: number, to: number): string => bytes.subarray(from, to).toString();
  const original = (node: Node): string => text(node.start, node.end);
  const on = (node: Node, change: string): string => {
    const id = firstId + mutants.length;
    const line = text(0, node.start).split("\n").length;
    mutants.push({ id, file, line, change: change.replace(/\s+/g, " ") });
    return `Mutants.on(${id})`;
  };

  const around = (node: Node, inside: boolean): string => {
    let out = "";
    let at = node.start;
    for (const child of node.children) {
      // Some nodes come twice, as a name and as what it stands for.
      if (child.start < at || child.end > node.end) continue;
      out += text(at, child.start) + render(child, inside);
      at = child.end;
    }
    return out + text(at, node.end);
  };

  /** @param inside Whether the node lies in a body that is executed. */
  function render(node: Node, inside: boolean): string {
    if (LEFT_ALONE.has(node.type)) return original(node);
    const body = inside || node.type === "Block";
    if (!body) return around(node, false);
    if (node.type === "ForStatement") return loop(node);
    if (node.type === "ExpressionStatement") return statement(node);
    if (node.type === "EmitStatement") return `if (!${on(node, `no ${original(node)}`)}) { ${around(node, true)} }`;
    if (node.type === "BinaryOperation") return binary(node);
    if (node.type === "UnaryOperation" && node.fields["operator"] === "!") {
      const operand = childOf(node, "subExpression");
      const condition = on(node, `${original(node)} -> ${original(operand)}`);
      return `(${condition} ? (${original(operand)}) : !(${render(operand, true)}))`;
    }
    return around(node, true);
  }

  /** The body; a loop whose head is wrong runs for ever or not at all, which any test notices. */
  function loop(node: Node): string {
    const body = childOf(node, "body");
    return text(node.start, body.start) + render(body, true) + text(body.end, node.end);
  }

  function statement(node: Node): string {
    const expression = childOf(node, "expression");
    const isRequire =
      expression.type === "FunctionCall" && /^(require|revert|assert)\b/.test(original(expression).trimStart());
    if (isRequire) return original(expression).startsWith("require") ? `${requirement(expression)};` : original(node);
    const operator = String(expression.fields["operator"]);
    const swapped = ASSIGNMENTS[operator];
    const kept = around(node, true);
    if (expression.type === "Assignment" && swapped !== undefined) {
      const left = original(childOf(expression, "leftHandSide"));
      const right = original(childOf(expression, "rightHandSide"));
      const condition = on(node, `${original(expression)} -> ${swapped}`);
      return `if (${condition}) { ${left} ${swapped} ${right}; } else { ${kept} }`;
    }
    return `if (!${on(node, `no ${original(expression)}`)}) { ${kept} }`;
  }

  function requirement(call: Node): string {
    const [condition] = (call.fields["arguments"] as { src: string }[]).map(({ src }) => Number(src.split(":")[0]));
    const node = call.children.find((child) => child.start === condition)!;
    const rest = text(node.end, call.end);
    return `require(${on(call, `no require(${original(node)})`)} || (${render(node, true)})${rest}`;
  }

  function binary(node: Node): string {
    const [left, right] = [childOf(node, "leftExpression"), childOf(node, "rightExpression")];
    const operator = String(node.fields["operator"]);
    const other = OPERATORS[operator];
    const bothLiteral = left.type === "Literal" && right.type === "Literal";
    if (other === undefined || bothLiteral) return around(node, true);
    const condition = on(node, `${original(node)} -> ${other}`);
    const mutated = `(${original(left)}) ${other} (${original(right)})`;
    return `(${condition} ? (${mutated}) : ((${render(left, true)}) ${operator} (${render(right, true)})))`;
  }

  const rendered = render(parse(source), false);
  const firstImport = rendered.search(/^pragma .*$/m);
  const end = rendered.indexOf("\n", firstImport) + 1;
  // The tree begins after the comments at the head of the file.
  return { source: `${rendered.slice(0, end)}import {Mutants} from "MUTANTS";\n${rendered.slice(end)}`, mutants };
}
