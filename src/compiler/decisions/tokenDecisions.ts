import { DType } from "../../numerics/dtype.ts";
import { nodeLabel, type Model, type Node } from "../../model/onnx/model.ts";
import type { DecidedOutput, TokenDecision, UndecidedOutput } from "../../model/decision/decision.ts";
import { findDecisions } from "./findDecisions.ts";

/**
 * Returns the decisions behind a text's tokens: the largest logit, and all decisions on the way to the logits.
 * @param model The decoder before wrapping.
 * @param tokens The name of the output with the tokens.
 * @param mask The name of the input that says which positions are looked at.
 * @param drawn Whether tokens may be drawn; else each token is the most probable token.
 * @param carried The caches: the previous item's outputs, by input.
 */
export function tokenDecisions(
  model: Model,
  { tokens, logits, mask, drawn }: { tokens: string; logits: string; mask: string; drawn: boolean },
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
  const [found] = findDecisions(chosen, carried, [mask]).outputs as [DecidedOutput | UndecidedOutput];
  if (!("decisions" in found)) return found;
  const token: TokenDecision = { kind: "token", node: tokens, operator: "ArgMax", tensors: [logits], drawn };
  return {
    name: tokens,
    decisions: found.decisions.map((decision) => (decision.node === name ? token : decision)),
  };
}
