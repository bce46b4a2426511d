import { TensorProto_DataType, type GraphProto, type NodeProto, type TensorProto } from "onnx-buf";

/** The parts of a graph or function that hold constants, and the names of the outputs. */
type Parts = { nodes: readonly NodeProto[]; initializers: readonly TensorProto[]; outputs: readonly string[] };

/** Adds the names that nodes and their bodies read. */
function addReads(nodes: readonly NodeProto[], names: Set<string>): void {
  for (const { input, attribute } of nodes) {
    for (const name of input) names.add(name);
    for (const { g, graphs } of attribute) for (const body of g === undefined ? graphs : [g, ...graphs]) inBody(body);
  }
  function inBody(body: GraphProto): void {
    addReads(body.node, names);
    for (const { name } of body.output) names.add(name);
  }
}

const isText = (tensor: TensorProto | undefined): boolean => tensor?.dataType === TensorProto_DataType.STRING;

const givesText = ({ opType, domain, attribute }: NodeProto): boolean =>
  opType === "Constant" &&
  (domain === "" || domain === "ai.onnx") &&
  attribute.some(({ name, t }) => name === "value_string" || name === "value_strings" || isText(t));

/** Leaves out constant texts that nothing reads. A text that something reads stays, and is refused by its name. */
export function withoutUnusedTexts({ nodes, initializers, outputs }: Parts): Omit<Parts, "outputs"> {
  if (!initializers.some(isText) && !nodes.some(givesText)) return { nodes, initializers };
  const names = new Set(outputs);
  addReads(nodes, names);
  return {
    nodes: nodes.filter((node) => !givesText(node) || node.output.some((name) => names.has(name))),
    initializers: initializers.filter((tensor) => !isText(tensor) || names.has(tensor.name)),
  };
}
