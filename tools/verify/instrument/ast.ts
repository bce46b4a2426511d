import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const solc = require("solc") as { compile: (input: string) => string };

/** A node of solc's syntax tree. `start` and `end` are offsets in bytes; a statement ends after its semicolon. */
export type Node = {
  type: string;
  start: number;
  end: number;
  /** In the order of the source. */
  children: Node[];
  /** Other fields of solc's tree. */
  fields: Readonly<Record<string, unknown>>;
};

/** The syntax tree of a Solidity file, without types. @throws Error if it does not parse. */
export function parse(source: string): Node {
  const input = {
    language: "Solidity",
    sources: { file: { content: source } },
    settings: { stopAfter: "parsing", outputSelection: { "*": { "": ["ast"] } } },
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as {
    errors?: { formattedMessage: string }[];
    sources?: { file?: { ast?: unknown } };
  };
  const ast = output.sources?.file?.ast;
  if (!isRaw(ast)) throw new Error(output.errors?.map((e) => e.formattedMessage).join("\n") ?? "solc gave no tree");
  return toNode(ast, Buffer.from(source));
}

type Raw = { nodeType: string; src: string };

const isRaw = (value: unknown): value is Raw =>
  typeof value === "object" && value !== null && "nodeType" in value && "src" in value;

/** Statements whose range in solc's tree leaves out their semicolon. */
const ENDS_BEFORE_SEMICOLON = new Set([
  "ExpressionStatement",
  "EmitStatement",
  "RevertStatement",
  "Return",
  "Continue",
  "Break",
  "VariableDeclarationStatement",
]);

function toNode(raw: Raw, bytes: Buffer): Node {
  const [start, length] = raw.src.split(":").map(Number) as [number, number];
  const fields = raw as unknown as Record<string, unknown>;
  const children = Object.values(fields)
    .flatMap((value): unknown[] => (Array.isArray(value) ? value : [value]))
    .filter(isRaw)
    .map((child) => toNode(child, bytes))
    .sort((a, b) => a.start - b.start);
  const semicolon = ENDS_BEFORE_SEMICOLON.has(raw.nodeType) && bytes[start + length] === 0x3b;
  // A node ending in a statement without braces ends with the statement's semicolon.
  const end = Math.max(start + length + (semicolon ? 1 : 0), children.at(-1)?.end ?? 0);
  return { type: raw.nodeType, start, end, children, fields };
}

/**
 * Whether a node is a function outside of contracts. Such a function may define an operator, and must stay pure then:
 * no code is added to such functions.
 */
export const isFree = ({ fields }: Node): boolean => fields["kind"] === "freeFunction";

/** The child that solc keeps under a name. */
export function childOf(node: Node, name: string): Node {
  const raw = node.fields[name];
  if (!isRaw(raw)) throw new Error(`${node.type} has no ${name}`);
  const start = Number(raw.src.split(":")[0]);
  return node.children.find((child) => child.start === start && child.type === raw.nodeType)!;
}

/**
 * A node's source, with its children rendered in their place.
 * @param text The source between two offsets.
 */
export function around(
  node: Node,
  text: (from: number, to: number) => string,
  render: (child: Node) => string,
): string {
  let out = "";
  let at = node.start;
  for (const child of node.children) {
    // Some nodes appear twice in the tree: in a name, and in the name's definition.
    if (child.start < at || child.end > node.end) continue;
    out += text(at, child.start) + render(child);
    at = child.end;
  }
  return out + text(at, node.end);
}
