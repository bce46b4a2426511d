import type { FunctionProto, GraphProto, NodeProto, TensorProto } from "onnx-buf";
import { RefuteError } from "../../base/errors.ts";
import { readAttribute } from "./attribute.ts";
import { readInput, readOutput } from "./containers.ts";
import { ModelFormatError, ModelGraphError } from "./errors.ts";
import { Inliner, readFunctions } from "./functions.ts";
import { nodeLabel, type Body, type Graph, type Node, type TensorData } from "./model.ts";
import { sortNodes } from "./sortNodes.ts";
import type { ReadContext } from "./readContext.ts";
import { readTensor } from "./tensor.ts";
import { withoutUnusedTexts } from "./unusedTexts.ts";

/** "ai.onnx" and "" name the same domain. */
export const domainName = (domain: string): string => (domain === "ai.onnx" ? "" : domain);

/**
 * Reads a part of the graph. With `context.refused` given, a refused part gets left out without throwing.
 * @param names The names of the part's values.
 */
function attempt<T>(context: ReadContext, names: readonly string[], read: () => T): T[] {
  try {
    return [read()];
  } catch (error) {
    if (context.refused === undefined || !(error instanceof RefuteError)) throw error;
    context.refused(error, names);
    return [];
  }
}

function readNode(node: NodeProto, context: ReadContext, opsets?: ReadonlyMap<string, number>): Node {
  const head = {
    name: node.name,
    operator: node.opType,
    domain: domainName(node.domain),
    inputs: node.input,
    outputs: node.output,
    ...(node.overload === "" ? {} : { overload: node.overload }),
    ...(opsets === undefined ? {} : { opsets }),
  };
  const where = `node ${nodeLabel({ ...head, attributes: new Map() })} (${node.opType})`;
  // A refusal in a node's body refuses the whole node.
  const { source, externalDataDir, memory } = context;
  const inner: ReadContext = { source, externalDataDir, memory };
  const attributes = new Map(
    node.attribute.map(
      (a) => [a.name, readAttribute(a, where, inner, (graph) => readBody(graph, inner, opsets))] as const,
    ),
  );
  return { ...head, attributes };
}

/**
 * Checks that every name has a single origin, before the first use.
 * @throws ModelGraphError
 */
export function checkNames(graph: Graph, source: string): void {
  const known = new Set<string>([...graph.initializers.keys(), ...graph.inputs.map((input) => input.name)]);
  for (const node of graph.nodes) {
    const where = `node ${nodeLabel(node)} (${node.operator})`;
    for (const name of node.inputs)
      if (name !== "" && !known.has(name))
        throw new ModelGraphError(source, where, `reads "${name}", which nothing before it produces`);
    for (const name of node.outputs) {
      if (name === "") continue;
      if (known.has(name)) throw new ModelGraphError(source, where, `produces "${name}" a second time`);
      known.add(name);
    }
  }
  for (const output of graph.outputs)
    if (!known.has(output.name)) throw new ModelGraphError(source, `output "${output.name}"`, "is produced by no node");
}

/** Reads the body of a node. */
function readBody(proto: GraphProto, context: ReadContext, opsets?: ReadonlyMap<string, number>): Body {
  const outputs = proto.output.map(({ name }) => name);
  const { nodes, initializers } = withoutUnusedTexts({ nodes: proto.node, initializers: proto.initializer, outputs });
  return {
    inputs: proto.input.map(({ name }) => name),
    outputs,
    initializers: readInitializers(proto, initializers, context),
    nodes: sortNodes(nodes.map((node) => readNode(node, context, opsets))),
  };
}

function readInitializers(
  proto: GraphProto,
  dense: readonly TensorProto[],
  context: ReadContext,
): Map<string, TensorData> {
  const sparse = proto.sparseInitializer.map(({ values }) => values?.name ?? "");
  if (sparse.length > 0)
    attempt(context, sparse, () => {
      throw new ModelGraphError(context.source, "sparse initializers", "are not read: store them as dense tensors");
    });
  const read = (tensor: TensorProto): readonly [string, TensorData] => [
    tensor.name,
    readTensor(tensor, `initializer "${tensor.name}"`, context),
  ];
  return new Map(dense.flatMap((tensor) => attempt(context, [tensor.name], () => read(tensor))));
}

/**
 * Reads a graph into plain types; calls of the model's functions are replaced by their nodes.
 * @throws ModelFormatError, ModelGraphError, DTypeError, ExternalDataError
 */
export function readGraph(proto: GraphProto, context: ReadContext, functions: readonly FunctionProto[] = []): Graph {
  const outputs = proto.output.map(({ name }) => name);
  const used = withoutUnusedTexts({ nodes: proto.node, initializers: proto.initializer, outputs });
  const initializers = readInitializers(proto, used.initializers, context);
  const local = readFunctions(functions, context, {
    node: (node, opsets) => readNode(node, context, opsets),
    body: (body) => readBody(body, context),
    domain: domainName,
  });
  const nodes = used.nodes.flatMap((node) => attempt(context, node.output, () => readNode(node, context)));
  const constant = new Set(proto.initializer.map(({ name }) => name));
  const { lengths = {} } = context;
  const named = proto.input.filter(({ name }) => !constant.has(name));
  const unknown = Object.keys(lengths).find((name) => named.every((input) => input.name !== name));
  if (unknown !== undefined) throw new ModelGraphError(context.source, `input "${unknown}"`, "is none of the model's");
  const inputs = named.flatMap(({ name, type }) =>
    attempt(context, [name], () => readInput(name, type, new Map(Object.entries(lengths)).get(name), context)),
  );
  const graph: Graph = {
    name: proto.name,
    inputs: inputs.flatMap((input) => input.inputs),
    outputs: proto.output.flatMap(({ name, type }) => attempt(context, [], () => readOutput(name, type, context))),
    nodes: sortNodes([
      ...inputs.flatMap((input) => input.nodes),
      ...(local.size === 0 ? nodes : new Inliner(local, context.source).expand(nodes)),
    ]),
    initializers,
  };
  if (proto.output.length === 0) throw new ModelFormatError(context.source, "its graph has no output");
  if (context.refused === undefined) checkNames(graph, context.source);
  return graph;
}
