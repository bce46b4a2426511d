import type { FunctionProto, GraphProto, NodeProto } from "onnx-buf";
import { readAttribute } from "./attribute.ts";
import { ModelGraphError } from "./errors.ts";
import { nodeLabel, type Attribute, type Body, type Node } from "./model.ts";
import type { ReadContext } from "./readContext.ts";
import { withoutUnusedTexts } from "./unusedTexts.ts";

/** The maximum of nodes after inlining: nested calls multiply, and nobody could check a larger program. */
const MAX_NODES = 200_000;

/** The maximum depth of calls and bodies in each other. Exporters write a few levels; each level is a recursion. */
const MAX_DEPTH = 64;

/** The maximum characters in all names made by inlining: each level of calls lengthens the names. */
const MAX_NAME_CHARACTERS = 2 ** 28;

/** A function of the model: formal names, attribute defaults, and nodes. */
type LocalFunction = {
  inputs: readonly string[];
  outputs: readonly string[];
  defaults: ReadonlyMap<string, Attribute>;
  nodes: readonly Node[];
};

type Functions = ReadonlyMap<string, LocalFunction>;

const key = (domain: string, name: string, overload = ""): string => `${domain}\n${name}\n${overload}`;

type Reader = {
  node: (node: NodeProto, opsets: ReadonlyMap<string, number>) => Node;
  body: (graph: GraphProto) => Body;
  domain: (domain: string) => string;
};

/** Reads the functions of a model. Their nodes follow the operator sets that the function imports. */
export function readFunctions(protos: readonly FunctionProto[], context: ReadContext, read: Reader): Functions {
  return new Map(
    protos.map((proto) => {
      const domain = read.domain(proto.domain);
      const where = `function ${domain === "" ? "" : `${domain}.`}${proto.name}`;
      const opsets = new Map(proto.opsetImport.map((o) => [read.domain(o.domain), Number(o.version)] as const));
      const defaults = new Map(
        proto.attributeProto.map((a) => [a.name, readAttribute(a, where, context, read.body)] as const),
      );
      const used = withoutUnusedTexts({ nodes: proto.node, initializers: [], outputs: proto.output });
      const nodes = used.nodes.map((node) => read.node(node, opsets));
      const own: LocalFunction = { inputs: proto.input, outputs: proto.output, defaults, nodes };
      return [key(domain, proto.name, proto.overload), own] as const;
    }),
  );
}

/** The mapping from a function's names and attributes to names and attributes in the calling graph. */
type Call = {
  name: (name: string) => string;
  attributes: ReadonlyMap<string, Attribute>;
  prefix: string;
  label: string;
};

/** Replaces the calls of the model's functions by the functions' nodes. */
export class Inliner {
  readonly #functions: Functions;
  readonly #source: string;
  #nodes = 0;
  #nameCharacters = 0;

  constructor(functions: Functions, source: string) {
    this.#functions = functions;
    this.#source = source;
  }

  /**
   * Returns the nodes with every function call replaced by the function's nodes, at any depth and also in bodies. A
   * model function takes precedence over an operator with the same name.
   * @throws ModelGraphError if functions call each other in a circle, or with too many calls or levels
   */
  expand(nodes: readonly Node[]): Node[] {
    return this.#expand(nodes, [], 0);
  }

  #expand(nodes: readonly Node[], callers: readonly string[], depth: number): Node[] {
    return nodes.flatMap((node) => {
      if (depth > MAX_DEPTH) this.#refuse(node, `is deeper than ${MAX_DEPTH} calls and bodies in each other`);
      // Calls count too: functions without nodes could call each other for ever.
      if (++this.#nodes > MAX_NODES) this.#refuse(node, `makes the model larger than ${MAX_NODES} nodes`);
      const id = key(node.domain, node.operator, node.overload);
      const called = this.#functions.get(id);
      if (called === undefined)
        return [this.#withBodies(node, (body) => ({ ...body, nodes: this.#expand(body.nodes, callers, depth + 1) }))];
      if (callers.includes(id)) this.#refuse(node, "calls itself");
      return this.#expand(this.#call(node, called), [...callers, id], depth + 1);
    });
  }

  #refuse(node: Node, why: string): never {
    throw new ModelGraphError(this.#source, `function ${node.operator} (node ${nodeLabel(node)})`, why);
  }

  #call(node: Node, called: LocalFunction): Node[] {
    if (node.inputs.length > called.inputs.length || node.outputs.length > called.outputs.length)
      this.#refuse(node, `takes ${called.inputs.length} inputs and gives ${called.outputs.length} outputs`);
    const label = nodeLabel(node);
    const prefix = `${node.outputs.find((name) => name !== "") ?? label}::`;
    const names = new Map(called.inputs.map((name, k) => [name, node.inputs[k] ?? ""] as const));
    const made = new Set(called.nodes.flatMap((inner) => inner.outputs));
    const passed: Node[] = [];
    called.outputs.forEach((name, k) => {
      const actual = node.outputs[k] ?? "";
      if (actual === "") return;
      if (made.has(name) && !names.has(name)) names.set(name, actual);
      else {
        // Handles an input passed through, or a result returned twice.
        const from = names.get(name) ?? `${prefix}${name}`;
        const head = { name: `${label}/${name}`, operator: "Identity", domain: "", attributes: new Map() };
        passed.push({ ...head, inputs: [from], outputs: [actual] });
      }
    });
    const call: Call = {
      name: (name) => (name === "" ? "" : (names.get(name) ?? `${prefix}${name}`)),
      attributes: new Map([...called.defaults, ...node.attributes]),
      prefix,
      label,
    };
    return [...called.nodes.map((inner) => this.#rename(inner, call)), ...passed];
  }

  #rename(node: Node, call: Call): Node {
    const attributes = new Map<string, Attribute>();
    for (const [name, value] of node.attributes) {
      const actual = value.kind === "reference" ? call.attributes.get(value.value) : value;
      if (actual !== undefined) attributes.set(name, actual);
    }
    const renamed = {
      ...node,
      attributes,
      name: `${call.label}/${node.name || node.operator}`,
      inputs: node.inputs.map(call.name),
      outputs: node.outputs.map(call.name),
    };
    for (const name of [renamed.name, ...renamed.inputs, ...renamed.outputs]) this.#nameCharacters += name.length;
    if (this.#nameCharacters > MAX_NAME_CHARACTERS)
      this.#refuse(node, `makes names of more than ${MAX_NAME_CHARACTERS} characters`);
    return this.#withBodies(renamed, (body, given) => (given ? body : this.#renameBody(body, call)), node);
  }

  #renameBody(body: Body, call: Call): Body {
    const own = new Set([...body.inputs, ...body.initializers.keys(), ...body.nodes.flatMap((node) => node.outputs)]);
    const name = (from: string): string => (from !== "" && own.has(from) ? `${call.prefix}${from}` : call.name(from));
    const inner = { ...call, name };
    return {
      inputs: body.inputs.map(name),
      outputs: body.outputs.map(name),
      nodes: body.nodes.map((node) => this.#rename(node, inner)),
      initializers: new Map([...body.initializers].map(([from, data]) => [name(from), data] as const)),
    };
  }

  /**
   * @param before the node before its attributes were filled in: a body that the caller gave keeps the caller's names
   */
  #withBodies(node: Node, change: (body: Body, given: boolean) => Body, before: Node = node): Node {
    const attributes = new Map<string, Attribute>();
    for (const [name, value] of node.attributes) {
      const given = before.attributes.get(name)?.kind === "reference";
      attributes.set(name, value.kind === "graph" ? { ...value, value: change(value.value, given) } : value);
    }
    return { ...node, attributes };
  }
}
