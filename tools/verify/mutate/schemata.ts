import { around, childOf, isFree, parse, type Node } from "../instrument/ast.ts";
import { withYulMutants } from "./yul.ts";

/** One small change to a contract, noticed by a good test. `nth` counts the equal changes in the file. */
export type Mutant = { id: number; file: string; line: number; change: string; nth: number };

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
  "&": "|",
  "|": "&",
  "^": "|",
};
const ASSIGNMENTS: Readonly<Record<string, string>> = { "+=": "-=", "-=": "+=", "|=": "&=", "&=": "|=" };
/** Nodes that are not executed, or in which no condition can be put. */
const LEFT_ALONE = new Set(["VariableDeclaration", "ModifierInvocation", "UserDefinedTypeName"]);

/** Returns a Solidity file's number constants: `NAME` in the declaring contract, `Contract.NAME` elsewhere. */
export function constantsOf(source: string): { contract: string; name: string }[] {
  const contracts = parse(source).children.filter(({ type }) => type === "ContractDefinition");
  return contracts.flatMap((contract) =>
    contract.children
      .filter(({ type, fields }) => type === "VariableDeclaration" && fields["constant"] === true)
      .filter(({ fields }) => (fields["typeName"] as { name?: string }).name === "uint256")
      .map(({ fields }) => ({ contract: String(contract.fields["name"]), name: String(fields["name"]) })),
  );
}

/** An expression that is replaced under a condition; the condition may be the constant `true`. */
function choice(condition: string, mutated: string, original: string): string {
  if (condition === "true") return `(${mutated})`;
  return condition === "false" ? original : `(${condition} ? ${mutated} : ${original})`;
}

/**
 * Returns a statement left out under a condition, possibly constant. Braces are needed, because an `else` may follow.
 */
function unless(condition: string, statement: string): string {
  if (condition === "true") return "{ }";
  return condition === "false" ? `{ ${statement} }` : `{ if (!${condition}) { ${statement} } }`;
}

/**
 * Rewrites a Solidity file to hold all its mutants at once, each under the condition `Mutants.on(id)`: one build serves
 * all ("mutant schemata", Untch, Offutt and Harrold, 1993).
 * @param firstId The first mutant's id.
 * @param constants Names of constant numbers; a mutant adds one to a constant wherever the file reads it.
 * @param wanted Which mutants the file holds; the others get ids too.
 * @param alive The condition for an active mutant; with "true" a mutant replaces the original code.
 */
export function withMutants(
  file: string,
  source: string,
  firstId: number,
  constants: ReadonlySet<string>,
  wanted: (mutant: Mutant) => boolean,
  alive = (id: number): string => `Mutants.on(${id})`,
): { source: string; mutants: Mutant[] } {
  const bytes = Buffer.from(source);
  const mutants: Mutant[] = [];
  /** Storage and calldata that functions return: the compiler asks that they are assigned. */
  const returned = new Set(
    [...source.matchAll(/\breturns \(([^)]*)\)/g)].flatMap(([, list]) =>
      [...list!.matchAll(/\b(?:storage|calldata) (\w+)/g)].map(([, name]) => name!),
    ),
  );
  const text = (from: number, to: number): string => bytes.subarray(from, to).toString();
  const original = (node: Node): string => text(node.start, node.end);
  const make = (node: Node, change: string): number | undefined => {
    const id = firstId + mutants.length;
    const line = text(0, node.start).split("\n").length;
    const words = change.replace(/\s+/g, " ");
    const nth = mutants.filter((other) => other.change === words).length;
    const mutant = { id, file, line, change: words, nth };
    mutants.push(mutant);
    return wanted(mutant) ? id : undefined;
  };
  const on = (node: Node, change: string): string => {
    const id = make(node, change);
    return id === undefined ? "false" : alive(id);
  };

  const within = (node: Node, inside: boolean): string => around(node, text, (child) => render(child, inside));

  const greater = new Map<string, string>();
  /** A constant that is one greater: one mutant for all its occurrences. */
  function constant(node: Node): string {
    const name = original(node);
    const condition = greater.get(name) ?? on(node, `${name} -> ${name} + 1`);
    greater.set(name, condition);
    return choice(condition, `${name} + 1`, name);
  }

  /** @param inside Whether the node lies in an executed body. */
  function render(node: Node, inside: boolean): string {
    if (LEFT_ALONE.has(node.type) || isFree(node)) return original(node);
    const body = inside || node.type === "Block";
    if (!body) return within(node, false);
    if (node.type === "InlineAssembly") return assembly(node);
    if (node.type === "ForStatement") return loop(node);
    if (node.type === "IfStatement" || node.type === "Conditional") return decision(node);
    if (node.type === "ExpressionStatement") return statement(node);
    if (node.type === "EmitStatement") return unless(on(node, `no ${original(node)}`), within(node, true));
    if (node.type === "BinaryOperation") return binary(node);
    if (constants.has(original(node))) return constant(node);
    if (node.type === "UnaryOperation" && node.fields["operator"] === "!") {
      const operand = childOf(node, "subExpression");
      const condition = on(node, `${original(node)} -> ${original(operand)}`);
      return choice(condition, `(${original(operand)})`, `!(${render(operand, true)})`);
    }
    return within(node, true);
  }

  function assembly(node: Node): string {
    const block = childOf(node, "AST");
    const assigned = [...original(block).matchAll(/(\w+)\.(?:offset|length|slot) *:=/g)];
    if (assigned.some(([, name]) => returned.has(name!))) return original(node);
    return text(node.start, block.start) + withYulMutants(block, text, make) + text(block.end, node.end);
  }

  /** Returns the body. A loop with a wrong head runs for ever or not at all, and any test notices. */
  function loop(node: Node): string {
    const body = childOf(node, "body");
    return text(node.start, body.start) + render(body, true) + text(body.end, node.end);
  }

  /** Makes an `if` or `?:` always go the same way. */
  function decision(node: Node): string {
    const condition = childOf(node, "condition");
    const words = original(condition);
    const always = on(node, `if (${words}) -> if (true)`);
    const never = on(node, `if (${words}) -> if (false)`);
    const inner = choice(always, "true", choice(never, "false", render(condition, true)));
    let out = text(node.start, condition.start) + inner;
    let at = condition.end;
    for (const child of node.children) {
      if (child.start < at) continue;
      out += text(at, child.start) + render(child, true);
      at = child.end;
    }
    return out + text(at, node.end);
  }

  function statement(node: Node): string {
    const expression = childOf(node, "expression");
    const isRequire =
      expression.type === "FunctionCall" && /^(require|revert|assert)\b/.test(original(expression).trimStart());
    if (isRequire) return original(expression).startsWith("require") ? `${requirement(expression)};` : original(node);
    const assigned = expression.type === "Assignment" ? original(childOf(expression, "leftHandSide")) : "";
    if (assigned.match(/\w+/g)?.some((name) => returned.has(name)) === true) return within(node, true);
    const operator = String(expression.fields["operator"]);
    const swapped = ASSIGNMENTS[operator];
    const removed = on(node, `no ${original(expression)}`);
    if (expression.type !== "Assignment" || swapped === undefined) return unless(removed, within(node, true));
    const left = original(childOf(expression, "leftHandSide"));
    const right = original(childOf(expression, "rightHandSide"));
    const condition = on(node, `${original(expression)} -> ${swapped}`);
    const kept = unless(removed, within(node, true));
    if (condition === "false") return kept;
    return `{ if (${condition}) { ${left} ${swapped} ${right}; } else { ${kept} } }`;
  }

  function requirement(call: Node): string {
    const [condition] = (call.fields["arguments"] as { src: string }[]).map(({ src }) => Number(src.split(":")[0]));
    const node = call.children.find((child) => child.start === condition)!;
    const rest = text(node.end, call.end);
    return `require(${choice(on(call, `no require(${original(node)})`), "true", render(node, true))}${rest}`;
  }

  function binary(node: Node): string {
    const [left, right] = [childOf(node, "leftExpression"), childOf(node, "rightExpression")];
    const operator = String(node.fields["operator"]);
    const other = OPERATORS[operator];
    const bothLiteral = left.type === "Literal" && right.type === "Literal";
    if (other === undefined || bothLiteral) return within(node, true);
    const condition = on(node, `${original(node)} -> ${other}`);
    // Identifiers with types of their own have no operator `!=`.
    const equal = `((${original(left)}) == (${original(right)}))`;
    const mutated = operator === "==" ? `(!${equal})` : `((${original(left)}) ${other} (${original(right)}))`;
    return choice(condition, mutated, `((${render(left, true)}) ${operator} (${render(right, true)}))`);
  }

  // The tree begins after the comments at the head of the file.
  const tree = parse(source);
  return { source: text(0, tree.start) + render(tree, false), mutants };
}
