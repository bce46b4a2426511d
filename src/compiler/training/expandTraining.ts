import type { Attribute, Model, Node, TensorData } from "../../model/onnx/model.ts";
import type { Budget } from "../budget.ts";
import { NodeInputError, UnsupportedOperatorError } from "../errors.ts";
import { NodeList } from "../nodes.ts";
import { differentiate } from "./differentiate.ts";
import { namesRead, renamed } from "../../model/onnx/names.ts";
import { isOptimiser, writeOptimiser } from "./optimisers.ts";
import { Values } from "./values.ts";

/** The domain of Gradient and the optimisers. */
export const TRAINING_DOMAIN = "ai.onnx.preview.training";

/** The prefix of all names added by the rewriting. */
const PREFIX = "gradient.";

export const isTraining = ({ domain }: Node): boolean => domain === TRAINING_DOMAIN;

/**
 * Returns the model with the nodes of ai.onnx.preview.training written in operators of ai.onnx: Gradient by
 * reverse-mode differentiation, Adagrad, Adam and Momentum by their definitions.
 * @param shapes The concrete shape of each input: gradients of broadcast values depend on the shapes.
 * @param budget The compilation's budget; finding types and shapes costs about the same as compiling.
 * @returns the same model if no such node exists
 * @throws UnsupportedOperatorError by the node that has no gradient, NodeInputError
 */
export function expandTraining(
  model: Model,
  shapes: readonly (readonly number[])[],
  budget: Budget,
  seed?: bigint,
): Model {
  const { graph, source } = model;
  if (!graph.nodes.some(isTraining)) return model;
  const values = new Values(model, shapes, budget, seed);
  const initializers = new Map<string, TensorData>(graph.initializers);
  const nodes: Node[] = [];
  graph.nodes.forEach((node, number) => {
    if (!isTraining(node)) {
      nodes.push(node);
      values.add([node]);
      return;
    }
    const n = new NodeList(`${PREFIX}${number}.`);
    if (node.operator === "Gradient") writeGradient({ ...model, source }, node, nodes, n, values);
    else if (isOptimiser(node)) writeOptimiser(node, n, values);
    else throw new UnsupportedOperatorError(node, undefined, `it is no operator of ${TRAINING_DOMAIN}`);
    nodes.push(...n.nodes);
    values.add(n.nodes, n.initializers);
    for (const [name, tensor] of n.initializers) initializers.set(name, tensor);
  });
  return { ...model, graph: { ...graph, nodes, initializers } };
}

const strings = (attribute: Attribute | undefined): readonly string[] =>
  attribute?.kind === "strings" ? attribute.value : attribute?.kind === "string" ? [attribute.value] : [];

/** @param nodes Those before the node. */
function writeGradient(model: Model, node: Node, nodes: Node[], n: NodeList, values: Values): void {
  const list = (name: string): readonly string[] => strings(node.attributes.get(name));
  const [xs, zs, [y]] = [list("xs"), list("zs"), list("y")];
  if (y === undefined || xs.length === 0) throw new NodeInputError(node, "the attributes xs and y name values");
  const names = [...xs, ...zs];
  if (node.inputs.length !== names.length || node.outputs.length > xs.length)
    throw new NodeInputError(node, `${node.inputs.length} inputs for ${names.length} names in xs and zs`);
  for (const name of [y, ...names])
    if (values.of(name) === undefined) throw new NodeInputError(node, `nothing before it produces "${name}"`);
  const given = new Map(names.map((name, k) => [name, node.inputs[k]!] as const));
  const question = { asked: node, y, xs };
  if ([...given].some(([name, value]) => name !== value)) {
    // The part of the graph from the named values to y is evaluated once more, where they have other values.
    const copied = copyOf(nodes, given, n);
    values.add(n.nodes);
    const own = [...nodes, ...n.nodes.splice(0)];
    const name = (value: string): string => copied.get(value) ?? value;
    const gradients = differentiate(model, own, { ...question, y: name(y), xs: xs.map(name) }, n, values);
    nodes.splice(0, nodes.length, ...own);
    writeResults(node, gradients, n);
    return;
  }
  writeResults(node, differentiate(model, nodes, question, n, values), n);
}

function writeResults(node: Node, gradients: readonly string[], n: NodeList): void {
  node.outputs.forEach((output, k) => {
    if (output !== "") n.node("Identity", [gradients[k]!], {}, { output });
  });
}

/**
 * Copies the nodes that depend on given values, with other names for the values. @returns the new name of each value
 */
function copyOf(nodes: readonly Node[], given: ReadonlyMap<string, string>, n: NodeList): Map<string, string> {
  const copied = new Map(given);
  for (const node of nodes) {
    if (!namesRead(node).some((name) => copied.has(name))) continue;
    const outputs = node.outputs.map((name) => (name === "" || given.has(name) ? "" : n.fresh(node.operator)));
    if (outputs.every((name) => name === "")) continue;
    node.outputs.forEach((name, k) => outputs[k] !== "" && copied.set(name, outputs[k]!));
    n.nodes.push({ ...node, ...renamed(node, copied), outputs });
  }
  return copied;
}
