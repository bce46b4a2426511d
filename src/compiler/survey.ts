import { nodeLabel, type Model, type Node } from "../onnx/model.ts";
import type { CompiledModel } from "../program/compiled.ts";
import { RefuteError } from "../errors.ts";
import { compile, type CompileOptions } from "./compile.ts";
import { NodeInputError, StepTooExpensiveError, UnsupportedOperatorError } from "./errors.ts";
import { findEntry } from "./registry.ts";

/** Why a model is refused at one place of its graph. `node` and `operator` are empty where the whole model is meant. */
export type Refusal = { node: string; operator: string; reason: string; code: string };

/** All that a compiler has to say of a model. */
export type Survey = {
  /** Empty if and only if `model` is there. */
  refusals: Refusal[];
  /** Nodes that read what a refused node makes: they are known operators, but whether they compile is not known. */
  unreached: number;
  model?: CompiledModel;
};

/**
 * Compiles a model; where that is refused, leaves out what is refused and goes on, so that all refusals are found at once.
 * @returns never throws a refusal: it is in the list
 */
export function survey(model: Model, options: CompileOptions): Survey {
  const refusals: Refusal[] = [];
  let unreached = 0;
  let rest = model;
  for (;;) {
    try {
      const compiled = compile(rest, options);
      return refusals.length === 0 ? { refusals, unreached, model: compiled } : { refusals, unreached };
    } catch (error) {
      if (!(error instanceof RefuteError)) throw error;
      refusals.push(...refusalsOf(error));
      const refused = refusedNode(rest, error);
      if (refused === undefined) return { refusals, unreached };
      const dependent = dependents(rest, refused);
      for (const node of dependent) {
        if (node === refused) continue;
        if (findEntry(node.operator, node.domain) === undefined) refusals.push(notInTheTable(node));
        else unreached++;
      }
      const pruned = without(rest, dependent);
      if (pruned === undefined) return { refusals, unreached };
      rest = pruned;
    }
  }
}

function refusalsOf(error: RefuteError): Refusal[] {
  const { code, message: reason } = error;
  if (error instanceof StepTooExpensiveError)
    return error.steps.map(({ node, operator, gas }) => ({
      node,
      operator,
      code,
      reason: `proving one element would cost about ${gas} gas`,
    }));
  if (error instanceof UnsupportedOperatorError || error instanceof NodeInputError)
    return [{ node: error.node, operator: error.operator, code, reason: withoutPlace(reason) }];
  return [{ node: "", operator: "", code, reason }];
}

/** Messages begin with the operator and the node, which a refusal has as fields. */
const withoutPlace = (message: string): string => message.replace(/^\S+ \(node .*?\)(?:, |: )/, "");

const notInTheTable = (node: Node): Refusal => ({
  node: nodeLabel(node),
  operator: node.domain === "" ? node.operator : `${node.domain}.${node.operator}`,
  code: "COMPILE_UNSUPPORTED",
  reason: "it is not in the table of operators",
});

function refusedNode({ graph }: Model, error: RefuteError): Node | undefined {
  if (!(error instanceof UnsupportedOperatorError || error instanceof NodeInputError)) return undefined;
  return graph.nodes.find((node) => nodeLabel(node) === error.node && node.operator === error.operator);
}

/** The node and all that read what it makes, directly or not. */
function dependents({ graph }: Model, refused: Node): Set<Node> {
  const lost = new Set(refused.outputs);
  const nodes = new Set([refused]);
  for (const node of graph.nodes) {
    if (!node.inputs.some((name) => name !== "" && lost.has(name))) continue;
    nodes.add(node);
    for (const name of node.outputs) lost.add(name);
  }
  return nodes;
}

/** The model without some nodes: its outputs are then those that are left, and what the nodes would have read. */
function without(model: Model, nodes: ReadonlySet<Node>): Model | undefined {
  const { graph } = model;
  const kept = graph.nodes.filter((node) => !nodes.has(node));
  const made = new Set(kept.flatMap((node) => node.outputs));
  const names = new Set([...graph.outputs.map(({ name }) => name), ...[...nodes].flatMap(({ inputs }) => inputs)]);
  const outputs = [...names].filter((name) => name !== "" && made.has(name));
  if (outputs.length === 0) return undefined;
  const infos = outputs.map((name) => ({ name, dtype: graph.inputs[0]?.dtype ?? 1, shape: undefined }) as const);
  return { ...model, graph: { ...graph, nodes: kept, outputs: infos } };
}
