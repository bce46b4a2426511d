import { checkNames } from "../model/onnx/graph.ts";
import { nodeLabel, type Model, type Node } from "../model/onnx/model.ts";
import type { CompiledModel } from "../program/compiled.ts";
import { RefuteError } from "../base/errors.ts";
import { Budget } from "./budget.ts";
import { compileWithin, type CompileOptions } from "./compile.ts";
import {
  CompileBudgetError,
  InputShapeError,
  ModelOutputError,
  NodeInputError,
  OpenShapeError,
  proofText,
  StepTooExpensiveError,
  UnsupportedOperatorError,
} from "./errors.ts";
import { isTraining } from "./training/expandTraining.ts";
import { namesRead } from "../model/onnx/names.ts";
import { whyUnsupported } from "./table/refused.ts";
import { findRow } from "./table/registry.ts";

/** Why a model is refused at a node of the graph. `node` and `operator` are empty if the whole model is meant. */
export type NodeRefusal = { node: string; operator: string; reason: string; code: string };

/** A model's compilation result with all refusals. */
export type Survey = {
  /** Empty if and only if `model` is there. */
  refusals: NodeRefusal[];
  /** Nodes that read what a refused node makes: they are known operators, but whether they compile is not known. */
  unreached: number;
  model?: CompiledModel;
};

/**
 * Compiles a model without the refused parts, which finds all refusals at once.
 * @returns the refusals in a list; none is thrown
 */
export function survey(model: Model, options: CompileOptions): Survey {
  return surveyFrom(model, options, []);
}

/**
 * Surveys a model that could be read only in part.
 * @param read The reading errors.
 * @param lost Names that no node gives, because the giving node was refused.
 */
export function surveyDraft(
  draft: Model,
  options: CompileOptions,
  read: readonly RefuteError[],
  lost: readonly string[],
): Survey {
  const refusals = read.flatMap((error) => refusalsOf(error, draft.source));
  const dependent = dependents(draft, new Set(), lost);
  const { unreached, refusals: unknown } = refuseUnknown(dependent);
  const rest = dependent.size === 0 ? draft : without(draft, dependent);
  if (rest === undefined) return { refusals: [...refusals, ...unknown], unreached };
  try {
    checkNames(rest.graph, draft.source);
  } catch (error) {
    if (!(error instanceof RefuteError)) throw error;
    return { refusals: [...refusals, ...unknown, ...refusalsOf(error, draft.source)], unreached };
  }
  const { inputs } = rest.graph;
  const shapes = Object.fromEntries(
    Object.entries(options.shapes).filter(([name]) => inputs.some((input) => input.name === name)),
  );
  const run = rest === draft ? options.run : undefined;
  const more = surveyFrom(rest, { ...options, shapes, run }, [...refusals, ...unknown]);
  return { ...more, unreached: more.unreached + unreached };
}

function refuseUnknown(nodes: Iterable<Node>): { refusals: NodeRefusal[]; unreached: number } {
  const refusals = [...nodes].filter((node) => !isKnown(node)).map(notInTheTable);
  return { refusals, unreached: [...nodes].length - refusals.length };
}

const isKnown = (node: Node): boolean => findRow(node) !== undefined || isTraining(node);

function surveyFrom(model: Model, options: CompileOptions, before: readonly NodeRefusal[]): Survey {
  const refusals = [...before];
  let unreached = 0;
  let rest = model;
  // All attempts together take no longer than one compilation may.
  const budget = new Budget(options.limits);
  for (;;) {
    try {
      const compiled = compileWithin(rest, options, budget);
      return refusals.length === 0 ? { refusals, unreached, model: compiled } : { refusals, unreached };
    } catch (error) {
      if (!(error instanceof RefuteError)) throw error;
      refusals.push(...refusalsOf(error, model.source));
      const refused = refusedNode(rest, error);
      if (refused === undefined) {
        if (!(error instanceof InputShapeError || error instanceof ModelOutputError)) return { refusals, unreached };
        const judged = refuseUnknown(rest.graph.nodes);
        return { refusals: [...refusals, ...judged.refusals], unreached: unreached + judged.unreached };
      }
      const dependent = dependents(rest, new Set([refused]), refused.outputs);
      const judged = refuseUnknown([...dependent].filter((node) => node !== refused));
      refusals.push(...judged.refusals);
      unreached += judged.unreached;
      const pruned = without(rest, dependent);
      if (pruned === undefined) return { refusals, unreached };
      rest = pruned;
      // The remaining model is examined node by node, without the run: its outputs differ from the run's outputs.
      options = { ...options, run: undefined };
      budget.restart();
    }
  }
}

function refusalsOf(error: RefuteError, source: string): NodeRefusal[] {
  const { code } = error;
  const reason = withoutSource(error.message, source);
  if (error instanceof StepTooExpensiveError)
    return error.steps.map(({ node, operator, ...size }) => ({
      node,
      operator,
      code,
      reason: `proving one element would take ${proofText(size)}`,
    }));
  if (
    error instanceof UnsupportedOperatorError ||
    error instanceof NodeInputError ||
    error instanceof CompileBudgetError
  )
    return [{ node: error.node, operator: error.operator, code, reason: withoutNode(reason) }];
  const reasons = error instanceof OpenShapeError ? error.inputs : [reason];
  return reasons.map((each) => ({ node: "", operator: "", code, reason: each }));
}

/** Messages about the whole model begin with the model's source. */
const withoutSource = (message: string, source: string): string =>
  message.startsWith(`${source}: `) ? message.slice(source.length + 2) : message;

/** Messages begin with the operator and the node, which a refusal has as fields. */
const withoutNode = (message: string): string => message.replace(/^\S+ \(node .*?\)(?:, |: )/, "");

const notInTheTable = (node: Node): NodeRefusal => ({
  node: nodeLabel(node),
  operator: node.domain === "" ? node.operator : `${node.domain}.${node.operator}`,
  code: "COMPILE_UNSUPPORTED",
  reason: whyUnsupported(node),
});

function refusedNode({ graph }: Model, error: RefuteError): Node | undefined {
  if (!(error instanceof UnsupportedOperatorError || error instanceof NodeInputError)) return undefined;
  const holds = (node: Node): boolean =>
    (nodeLabel(node) === error.node && node.operator === error.operator) || bodyNodes(node).some(holds);
  return graph.nodes.find(holds);
}

const bodyNodes = (node: Node): Node[] =>
  [...node.attributes.values()].flatMap((attribute) => (attribute.kind === "graph" ? attribute.value.nodes : []));

/** Returns true if a node, or a node in its bodies, reads a listed name. */
const readsAny = (node: Node, names: ReadonlySet<string>): boolean =>
  namesRead(node).some((name) => name !== "" && names.has(name));

/** Returns some nodes with all direct or indirect readers of their results or the names. */
function dependents({ graph }: Model, refused: ReadonlySet<Node>, names: readonly string[]): Set<Node> {
  const lost = new Set(names);
  const nodes = new Set(refused);
  for (const node of graph.nodes) {
    if (!readsAny(node, lost)) continue;
    nodes.add(node);
    for (const name of node.outputs) lost.add(name);
  }
  return nodes;
}

/**
 * Returns the model without some nodes. The new outputs: the remaining outputs, and the values read by the removed
 * nodes.
 */
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
