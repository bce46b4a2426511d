import { around, childOf, type Node } from "../instrument/ast.ts";
import { HEAR } from "../instrument/listener.ts";

/** The neighbour of a two-operand built-in function. */
const NEIGHBOURS: Readonly<Record<string, string>> = {
  add: "sub(mutantA, mutantB)",
  sub: "add(mutantA, mutantB)",
  mul: "div(mutantA, mutantB)",
  div: "mul(mutantA, mutantB)",
  sdiv: "div(mutantA, mutantB)",
  smod: "mod(mutantA, mutantB)",
  and: "or(mutantA, mutantB)",
  or: "and(mutantA, mutantB)",
  xor: "or(mutantA, mutantB)",
  shl: "shr(mutantA, mutantB)",
  shr: "shl(mutantA, mutantB)",
  lt: "iszero(gt(mutantA, mutantB))",
  gt: "iszero(lt(mutantA, mutantB))",
  eq: "iszero(eq(mutantA, mutantB))",
  signextend: "mutantB",
};
/** A constant of the contract or library, read by assembly. */
const CONSTANT = /^[A-Z][A-Z0-9_]*$/;
const REMOVED = new Set(["YulAssignment", "YulExpressionStatement"]);

/** The active mutant's id, like in Mutants.sol. */
const SWITCH = `${HEAR}
function mutantOn(mutantId) -> mutantAlive {
  let mutantSaid := coinbase()
  mutantAlive := eq(mutantSaid, add(0x4d757461740000000000, mutantId))
  if eq(mutantSaid, 0x4d757461740000000000) { listenerHear(mutantId) }
}
`;
const MUTANT = `${SWITCH}
function mutantIf(mutantId, mutantA) -> mutantResult {
  mutantResult := mutantA
  if mutantOn(mutantId) { mutantResult := 1 }
  if mutantOn(add(mutantId, 1)) { mutantResult := 0 }
}
function mutantNot(mutantId, mutantA) -> mutantResult {
  mutantResult := iszero(mutantA)
  if mutantOn(mutantId) { mutantResult := mutantA }
}
`;

/**
 * Makes one mutant in the assembly of a Solidity file active without a condition. The compiler leaves out the code that
 * then never runs.
 */
export const forGood = (source: string, id: number): string =>
  source.replaceAll(SWITCH, `function mutantOn(mutantId) -> mutantAlive { mutantAlive := eq(mutantId, ${id}) }`);

/**
 * Adds mutants to an assembly block: a built-in function replaced by the neighbour, a number or a constant plus one, a
 * statement left out, an `if` with a fixed way. Loop heads are left alone: a loop with a wrong head runs for ever or
 * not at all.
 * @param make Numbers a node's mutant, in ascending order, unless unwanted.
 */
export function withYulMutants(
  block: Node,
  text: (from: number, to: number) => string,
  make: (node: Node, change: string) => number | undefined,
): string {
  const used = new Set<string>();
  const original = (node: Node): string => text(node.start, node.end);

  const inside = (node: Node): string => around(node, text, render);
  const isNumber = (node: Node): boolean =>
    (node.type === "YulLiteral" && node.fields["kind"] === "number") ||
    (node.type === "YulIdentifier" && CONSTANT.test(original(node)));

  function render(node: Node): string {
    if (node.type === "YulForLoop") {
      const body = childOf(node, "body");
      return text(node.start, body.start) + inside(body);
    }
    if (node.type === "YulCase") {
      const body = childOf(node, "body");
      return text(node.start, body.start) + inside(body);
    }
    if (node.type === "YulIf") return decision(node);
    if (REMOVED.has(node.type)) {
      const id = make(node, `no ${original(node)}`);
      return id === undefined ? inside(node) : `if iszero(mutantOn(${id})) { ${inside(node)} }`;
    }
    if (isNumber(node)) {
      const id = make(node, `${original(node)} -> + 1`);
      return id === undefined ? original(node) : `add(${original(node)}, mutantOn(${id}))`;
    }
    if (node.type === "YulFunctionCall") return call(node);
    return inside(node);
  }

  function decision(node: Node): string {
    const condition = childOf(node, "condition");
    const always = make(node, `if ${original(condition)} -> if 1`);
    const never = make(node, `if ${original(condition)} -> if 0`);
    if (always === undefined && never === undefined) return inside(node);
    return `if mutantIf(${always ?? never! - 1}, ${render(condition)}) ${render(childOf(node, "body"))}`;
  }

  function call(node: Node): string {
    const name = original(childOf(node, "functionName"));
    const operands = node.children.slice(1);
    if (name === "iszero") {
      const id = make(node, `${original(node)} -> ${original(operands[0]!)}`);
      return id === undefined ? inside(node) : `mutantNot(${id}, ${render(operands[0]!)})`;
    }
    const other = NEIGHBOURS[name];
    if (other === undefined) return inside(node);
    const words = other.replace(/mutant([AB])/g, (_, operand: string) => operand.toLowerCase());
    const id = make(node, `${original(node)} -> ${words}`);
    if (id === undefined) return inside(node);
    used.add(name);
    return `mutant_${name}(${id}, ${operands.map(render).join(", ")})`;
  }

  const body = inside(block);
  const functions = [...used].map(
    (name) => `
function mutant_${name}(mutantId, mutantA, mutantB) -> mutantResult {
  mutantResult := ${name}(mutantA, mutantB)
  if mutantOn(mutantId) { mutantResult := ${NEIGHBOURS[name]!} }
}
`,
  );
  return body.replace("{", () => `{${MUTANT}${functions.join("")}`);
}
