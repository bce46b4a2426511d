import {
  elementCount,
  MAX_RANK,
  nodeLabel,
  type Body,
  type Model,
  type Node,
  type TensorData,
} from "../../model/onnx/model.ts";
import { elementName } from "../../model/onnx/containers.ts";
import { MAX_COUNT } from "../../program/limits.ts";
import type { ProgramBuilder } from "../steps/builder.ts";
import { ABSENT, isSequence, type GraphValue } from "../operators/control/types.ts";
import { ModelOutputError, NodeInputError, OperandTypeError, UnsupportedOperatorError } from "../errors.ts";
import { lowerBounded, WHY_BOUNDED } from "./boundedTensors.ts";
import { lowerInType } from "./halfTensors.ts";
import { lowerNarrow } from "./narrowTensors.ts";
import { NodeContext } from "../lowering/nodeContext.ts";
import { whyUnsupported } from "../table/refused.ts";
import { valuesWithMemory } from "./valuesWithMemory.ts";
import { findRow } from "../table/registry.ts";
import { storageOrder } from "../steps/storage.ts";
import { preferredStorage } from "./preferredStorage.ts";
import { identityOrder, type Bounded, type LazyTensor } from "../expressions/tensor.ts";

/** The values of a graph during its lowering, and the values of the graphs around it. */
type Scope = {
  builder: ProgramBuilder;
  model: Model;
  values: Map<string, GraphValue>;
  initializers: ReadonlyMap<string, TensorData>;
  outer: Scope | undefined;
};

function lookup(scope: Scope, name: string): GraphValue | undefined {
  const known = scope.values.get(name);
  if (known !== undefined) return known;
  const data = scope.initializers.get(name);
  if (data === undefined) return scope.outer && lookup(scope.outer, name);
  const tensor = scope.builder.constant(data);
  scope.values.set(name, tensor);
  return tensor;
}

function runBody(scope: Scope, node: Node, body: Body, inputs: readonly GraphValue[]): GraphValue[] {
  if (inputs.length !== body.inputs.length)
    throw new NodeInputError(node, `${inputs.length} inputs for a body of ${body.inputs.length}`);
  const { builder } = scope;
  const values = new Map(body.inputs.map((name, k) => [name, inputs[k]!] as const));
  const outer = builder.current;
  const { place } = builder.budget;
  const inner: Scope = { ...scope, values, initializers: body.initializers, outer: scope };
  lowerNodes(inner, body);
  builder.current = outer;
  builder.budget.place = place;
  return body.outputs.map((name) => {
    const value = lookup(inner, name);
    if (value === undefined) throw new NodeInputError(node, `its body gives no "${name}"`);
    if (isBounded(value)) throw new UnsupportedOperatorError(node, `"${name}" of a body`, WHY_BOUNDED);
    return value;
  });
}

const isBounded = (value: GraphValue): value is LazyTensor & { bounded: Bounded } =>
  !isSequence(value) && value.bounded !== undefined;

/**
 * Lets the node refuse operands of a wrong type for the operation. The node also refuses attributes and sizes beyond
 * JavaScript's numbers: fractions instead of whole numbers, lists too long for memory.
 */
function refusing<T>(context: NodeContext, lower: () => T): T {
  try {
    return lower();
  } catch (error) {
    if (error instanceof OperandTypeError) return context.refuse(undefined, error.message);
    if (error instanceof RangeError) return context.fail(`it asks for what cannot be computed (${error.message})`);
    throw error;
  }
}

function lowerNode(
  scope: Scope,
  node: Node,
  operands: readonly (GraphValue | undefined)[],
): readonly (GraphValue | undefined)[] {
  const { builder, model } = scope;
  const row = findRow(node);
  const opset = (node.opsets ?? model.opsets).get(node.domain) ?? 0;
  if (row === undefined || row.use === "rewritten")
    throw new UnsupportedOperatorError(node, undefined, whyUnsupported(node));
  if (opset < row.since || opset > row.until)
    throw new UnsupportedOperatorError(node, "opset", `is ${opset}, expected ${row.since} to ${row.until}`);
  if (node.operator === "Identity" && isSequence(operands[0])) return [operands[0]];
  const sequence = operands.findIndex(isSequence);
  if (row.use !== "bodies" && sequence >= 0)
    throw new UnsupportedOperatorError(node, `input ${sequence}`, "is a sequence");
  const room = operands.findIndex((value) => value !== undefined && isBounded(value));
  if (row.use === "bodies" && room >= 0) throw new UnsupportedOperatorError(node, `input ${room}`, WHY_BOUNDED);
  const tensors = operands.map((value) => (isSequence(value) ? undefined : value));
  const context = new NodeContext(builder, node, opset, tensors);
  const run = (body: Body, inputs: readonly GraphValue[]): GraphValue[] => runBody(scope, node, body, inputs);
  const outputs = refusing(context, (): readonly (GraphValue | undefined)[] =>
    row.use === "bodies"
      ? row.lower({ context, operands, run })
      : lowerBounded(context, row, (all) => lowerNarrow(all, row, (given) => lowerInType(given, row))),
  );
  context.checkAttributes();
  const missing = node.outputs.findIndex((name, k) => name !== "" && outputs[k] === undefined);
  if (missing >= 0) context.refuse(`output ${missing}`, "is not computed");
  // A tensor without elements always becomes a constant, and nothing reads its origin.
  const known = (tensor: LazyTensor): LazyTensor => {
    const count = elementCount(tensor.shape);
    if (!tensor.shape.every((dim) => Number.isInteger(dim) && dim >= 0))
      throw new NodeInputError(node, `its result would be of shape [${tensor.shape.join()}]`);
    if (count >= MAX_COUNT)
      throw new NodeInputError(node, `its result [${tensor.shape.join()}] has 2^32 elements or more`);
    if (tensor.shape.length > MAX_RANK)
      throw new NodeInputError(node, `its result has ${tensor.shape.length} dimensions, at most ${MAX_RANK}`);
    if (count > 0) return tensor;
    const { narrow } = tensor;
    return { ...builder.filled(tensor.dtype, tensor.shape, 0n), ...(narrow && { narrow }) };
  };
  return outputs.map((value) => {
    if (value === undefined || value === ABSENT) return value;
    return isSequence(value) ? value.map(known) : known(value);
  });
}

/** The maximum number of operators in the origin of a tensor: the last operators. A step fuses fewer. */
const MAX_TRAIL = 64;

/** Called before each node of the graph itself. */
type Progress = (done: number, total: number) => void;

/** Lowers the nodes of a graph or body in their order. */
function lowerNodes(scope: Scope, graph: Body, progress?: Progress): void {
  const { builder } = scope;
  builder.budget.checkNodes(graph.nodes.length);
  const withMemory = valuesWithMemory(graph);
  const storages = preferredStorage(graph);
  const outputNames = new Set(graph.outputs);
  for (const [n, node] of graph.nodes.entries()) {
    progress?.(n, graph.nodes.length);
    const label = nodeLabel(node);
    const key = node.outputs.join();
    builder.budget.enter(label, node.operator);
    builder.current = { node: label, operators: new Map([[key, node.operator]]) };
    const operands = node.inputs.map((name) => {
      const value = name === "" ? undefined : lookup(scope, name);
      if (name !== "" && value === undefined) throw new NodeInputError(node, `nothing before it produces "${name}"`);
      return value;
    });
    const outputs = lowerNode(scope, node, operands);
    const fused = operands.flatMap((operand) =>
      operand === undefined || isSequence(operand) ? [] : [...(operand.trail?.operators ?? [])],
    );
    node.outputs.forEach((name, k) => {
      if (name === "") return;
      const value = outputs[k]!;
      if (isSequence(value)) {
        builder.budget.computeElements(value.length);
        for (const element of value) builder.realise(element);
        scope.values.set(name, value);
        return;
      }
      // An operator returning its input gives the same tensor a second name. The name gets a copy with a separate
      // trail.
      const tensor = { ...value };
      scope.values.set(name, tensor);
      tensor.trail = {
        node: label,
        operators: new Map([...fused.slice(1 - MAX_TRAIL), [key, node.operator]]),
      };
      if (tensor.expr.kind === "read" || tensor.expr.kind === "constant") {
        if (builder.isConstant(tensor)) delete tensor.trail;
        return;
      }
      // Multiplications and other readers of a packed tensor find out whether they need the whole tensor.
      if (builder.isPacked(tensor)) return;
      const storage = storages.get(name);
      if (storage !== undefined) tensor.order = storageOrder(storage, tensor.shape.length);
      // A result of the job lies in ONNX's order, whatever its readers prefer.
      if (outputNames.has(name)) tensor.order = identityOrder(tensor.shape.length);
      if (withMemory.has(name) || builder.isConstant(tensor)) builder.realise(tensor);
    });
  }
}

/** The name of the output that counts the elements of a bounded output. */
export const countName = (name: string): string => `${name}.count`;

/** The values of a graph: tensors by name, and the names of the tensors of each output. */
type Lowered = { values: Map<string, LazyTensor>; outputs: readonly (readonly string[])[] };

/**
 * Gives every value of the graph a tensor; steps are added to the builder in the order of the nodes. A sequence as an
 * output gives a tensor for each element; a bounded output gives two tensors, the output and its count.
 */
export function lowerGraph(
  builder: ProgramBuilder,
  model: Model,
  inputs: readonly LazyTensor[],
  progress?: Progress,
): Lowered {
  const { graph } = model;
  const values = new Map<string, GraphValue>(graph.inputs.map((input, i) => [input.name, inputs[i]!] as const));
  const scope: Scope = { builder, model, values, initializers: graph.initializers, outer: undefined };
  const outputs = graph.outputs.map((output) => output.name);
  lowerNodes(scope, { inputs: [], outputs, nodes: graph.nodes, initializers: graph.initializers }, progress);
  const tensors = new Map([...values].flatMap(([name, value]) => (isSequence(value) ? [] : [[name, value] as const])));
  const names = outputs.map((name) => {
    const value = lookup(scope, name);
    const add = (own: string, tensor: LazyTensor): string => {
      if (values.has(own))
        throw new ModelOutputError(`${model.source}: it has a value "${own}" of its own, a name that "${name}" needs`);
      tensors.set(own, tensor);
      return own;
    };
    if (isSequence(value)) return value.map((element, k) => add(elementName(name, k), element));
    // An output that is an initializer: a copy of its own.
    if (value !== undefined && graph.initializers.has(name))
      tensors.set(name, { ...value, trail: { node: name, operators: new Map([[name, "Identity"]]) } });
    const count = value !== undefined && isBounded(value) ? value.bounded.count : undefined;
    return count === undefined ? [name] : [name, add(countName(name), count)];
  });
  return { values: tensors, outputs: names };
}
