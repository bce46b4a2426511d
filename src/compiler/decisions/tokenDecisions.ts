import { DType } from "../../numerics/dtype.ts";
import { nodeLabel, type Model, type Node } from "../../model/onnx/model.ts";
import type { DecidedOutput, TokenDecision, UndecidedOutput } from "../../model/decision/decision.ts";
import { findDecisions } from "./findDecisions.ts";

/**
 * The decisions behind the tokens of a text: the largest logit, and all decisions on the way to the logits.
 * @param model The decoder before it is wrapped.
 * @param tokens The name of the output that has the tokens.
 * @param drawn Whether tokens may be drawn; else each is the most probable one.
 * @param carried The caches: outputs of the item before, by input.
 */
export function tokenDecisions(
  model: Model,
  { tokens, logits, drawn }: { tokens: string; logits: string; drawn: boolean },
  carried: Readonly<Record<string, string>>,
): DecidedOutput | UndecidedOutput {
  const { graph } = model;
  // SAFETY: a node of the model with this name would pass for the choice, and its own decision would not be read.
  const taken = new Set(graph.nodes.map(nodeLabel));
  let name = tokens;
  while (taken.has(name)) name += "_";
  const choice: Node = {
    ...{ name, operator: "ArgMax", domain: "", inputs: [logits], outputs: [tokens] },
    attributes: new Map([["axis", { kind: "int", value: -1n }]]),
  };
  const output = { name: tokens, dtype: DType.int64, shape: undefined };
  const chosen = { ...model, graph: { ...graph, nodes: [...graph.nodes, choice], outputs: [output] } };
  const [found] = findDecisions(chosen, carried).outputs as [DecidedOutput | UndecidedOutput];
  if (!("decisions" in found)) return found;
  const token: TokenDecision = { kind: "token", node: tokens, operator: "ArgMax", tensors: [logits], drawn };
  return {
    name: tokens,
    decisions: found.decisions.map((decision) => (decision.node === name ? token : decision)),
  };
}
