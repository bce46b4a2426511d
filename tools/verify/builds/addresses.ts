/** Finds the pattern of the compiler's error that build.ts describes, in inline assembly. */
import { childOf, parse, type Node } from "../instrument/ast.ts";

/**
 * Functions tracked by the optimizer; the first argument is an address. Calls and copies make the optimizer forget
 * everything.
 */
const TRACKED = new Set(["mload", "mstore", "sload", "sstore", "keccak256"]);

const nameOf = (node: Node): string => String(node.fields.name);
const calledBy = (call: Node): string => nameOf(childOf(call, "functionName"));
const argumentsOf = (call: Node): Node[] => call.children.slice(1);
const isConstant = (node: Node): boolean =>
  node.type === "YulLiteral" || (node.type === "YulIdentifier" && /^[A-Z0-9_]+$/.test(nameOf(node)));

type Variable = { definition: Node | undefined; loop: Node | undefined; writes: number };

/**
 * Finds reassigned variables in assembly blocks, with reads or writes of memory or storage at a constant distance from
 * the variable. Variables assigned only by Solidity code are not examined.
 * @returns `FUNCTION VARIABLE` for each.
 */
export function movingAddresses(source: string): string[] {
  const found = new Set<string>();
  const visit = (node: Node, name: string): void => {
    if (node.type === "InlineAssembly") for (const moving of movingIn(node)) found.add(`${name} ${moving}`);
    else for (const child of node.children) visit(child, node.type === "FunctionDefinition" ? nameOf(node) : name);
  };
  visit(parse(source), "");
  return [...found];
}

function movingIn(block: Node): Set<string> {
  const variables = new Map<string, Variable>();
  const addresses: Node[] = [];
  const visit = (node: Node, loops: readonly Node[]): void => {
    if (node.type === "YulVariableDeclaration")
      for (const { name } of node.fields.variables as { name: string }[])
        variables.set(name, {
          definition: node.fields.value ? childOf(node, "value") : undefined,
          loop: loops.at(-1),
          writes: node.fields.value ? 1 : 0,
        });
    if (node.type === "YulAssignment")
      for (const { name } of node.fields.variableNames as { name: string }[]) {
        const variable = variables.get(name) ?? { definition: undefined, loop: undefined, writes: 0 };
        // A variable declared in a loop is a new variable in each turn.
        variable.writes += variable.loop === loops.at(-1) ? 1 : 2;
        variables.set(name, variable);
      }
    if (node.type === "YulFunctionCall" && TRACKED.has(calledBy(node))) addresses.push(argumentsOf(node)[0]!);
    // A declaration before a loop's first turn is made once.
    const pre = node.type === "YulForLoop" ? childOf(node, "pre") : undefined;
    for (const child of node.children)
      visit(child, node.type === "YulForLoop" && child !== pre ? [...loops, node] : loops);
  };
  visit(block, []);
  const isMoving = (name: string): boolean => (variables.get(name)?.writes ?? 0) > 1;

  /** Returns the variable at a constant distance from an address. */
  function referenceOf(address: Node): string | undefined {
    if (address.type === "YulIdentifier") {
      const name = nameOf(address);
      const definition = variables.get(name)?.definition;
      return definition === undefined || isMoving(name) ? name : (referenceOf(definition) ?? name);
    }
    if (address.type !== "YulFunctionCall" || !["add", "sub"].includes(calledBy(address))) return undefined;
    const rest = argumentsOf(address).filter((argument) => !isConstant(argument));
    return rest.length === 1 ? referenceOf(rest[0]!) : undefined;
  }
  const references = addresses.map(referenceOf).filter((name) => name !== undefined);
  return new Set(references.filter(isMoving));
}
