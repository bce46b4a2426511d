import { elementCount, nodeLabel, type Model, type Node } from "../onnx/model.ts";
import type { ProgramBuilder } from "./builder.ts";
import { NodeInputError, UnsupportedOperatorError } from "./errors.ts";
import { NodeContext } from "./nodeContext.ts";
import { valuesWithMemory } from "./plan.ts";
import { findEntry } from "./registry.ts";
import { storageOrder, storageWishes } from "./storage.ts";
import { identityOrder, type LazyTensor } from "./tensor.ts";

function lowerNode(
  builder: ProgramBuilder,
  node: Node,
  model: Model,
  inputs: (LazyTensor | undefined)[],
): LazyTensor[] {
  const entry = findEntry(node.operator, node.domain);
  const opset = model.opsets.get(node.domain) ?? 0;
  if (entry === undefined) {
    const operator = node.domain === "" ? "it" : `${node.domain}.${node.operator}`;
    throw new UnsupportedOperatorError(node, undefined, `${operator} is not in the table of operators`);
  }
  const [first, last] = entry[2];
  if (opset < first || opset > last)
    throw new UnsupportedOperatorError(node, "opset", `is ${opset}, expected ${first} to ${last}`);
  const context = new NodeContext(builder, node, opset, inputs);
  const outputs = entry[4](context);
  context.checkAttributes();
  const missing = node.outputs.findIndex((name, k) => name !== "" && outputs[k] === undefined);
  if (missing >= 0) context.refuse(`output ${missing}`, "is not computed");
  // An empty list that is known, of axes or sizes, may be handed on; nothing is computed from it.
  for (const { shape, expr } of outputs)
    if (elementCount(shape) === 0 && (expr.kind !== "constant" || shape.length !== 1))
      throw new NodeInputError(node, `its result [${shape.join()}] has no elements`);
  return outputs;
}

/** Gives every value of the graph a tensor; steps are added to the builder in the order of the nodes. */
export function lowerGraph(
  builder: ProgramBuilder,
  model: Model,
  inputs: readonly LazyTensor[],
): Map<string, LazyTensor> {
  const { graph } = model;
  const values = new Map<string, LazyTensor>();
  graph.inputs.forEach((input, i) => values.set(input.name, inputs[i]!));
  const value = (name: string): LazyTensor => {
    let tensor = values.get(name);
    if (tensor === undefined) values.set(name, (tensor = builder.constant(graph.initializers.get(name)!)));
    return tensor;
  };
  const withMemory = valuesWithMemory(graph);
  const wishes = storageWishes(graph);
  const outputNames = new Set(graph.outputs.map((output) => output.name));
  for (const node of graph.nodes) {
    const label = nodeLabel(node);
    builder.current = { node: label, operators: new Map([[node.outputs.join(), node.operator]]) };
    const operands = node.inputs.map((name) => (name === "" ? undefined : value(name)));
    const outputs = lowerNode(builder, node, model, operands);
    const fused = operands.flatMap((operand) => [...(operand?.trail?.operators ?? [])]);
    node.outputs.forEach((name, k) => {
      if (name === "") return;
      // An operator that passes its input on gives the same tensor a second name: a copy, as each has its own trail.
      const tensor = { ...outputs[k]! };
      values.set(name, tensor);
      tensor.trail = { node: label, operators: new Map([...fused, [node.outputs.join(), node.operator]]) };
      if (tensor.expr.kind === "read" || tensor.expr.kind === "constant") {
        if (builder.isConstant(tensor)) delete tensor.trail;
        return;
      }
      const storage = wishes.get(name);
      if (storage !== undefined) tensor.order = storageOrder(storage, tensor.shape.length);
      // A result of the job lies in ONNX's order, whatever its readers prefer.
      if (outputNames.has(name)) tensor.order = identityOrder(tensor.shape.length);
      if (withMemory.has(name) || builder.isConstant(tensor)) builder.realise(tensor);
    });
  }
  for (const output of graph.outputs) value(output.name);
  return values;
}
