import type { Model } from "../../model/onnx/model.ts";
import type { DecidedOutput, UndecidedOutput } from "../../model/decision/decision.ts";
import { inputBound, maskBound } from "./integerBound.ts";
import { given, type ValueState } from "./valueState.ts";
import { Walk } from "./findDeciders.ts";

/**
 * The maximum number of nodes that are visited. Nodes of a loop's body are visited as often as their states change. No
 * exported model comes near this number.
 */
const MAX_VISITS = 2_000_000;

/** Each model output with its decisions, or with the reason why no decisions cover the output. */
export type FoundDecisions = { outputs: (DecidedOutput | UndecidedOutput)[] };

/**
 * Finds, for each output of a model, whether decisions cover all possible differences between machines. An output is
 * decided if every path from it back to floats computed from inputs passes a decision, and nothing after the decision
 * can differ: integers, bools, moved elements, and one multiplication or division by a constant.
 *
 * A decision may precede floats with a second decision: both belong to the output. Deciding tensors have the names of
 * the model's own graph. Random numbers, and floats that are rounded to few bits on the way, decide nothing.
 *
 * @param carried In a run: inputs taken from the previous item's outputs, by name. An input differs like its output.
 * @param masks Inputs with fewer than 2^31 elements, each 0 or 1.
 */
export function findDecisions(
  model: Model,
  carried: Readonly<Record<string, string>> = {},
  masks: readonly string[] = [],
): FoundDecisions {
  let assumed = new Map<string, ValueState>();
  for (;;) {
    const walk = walkModel(model, assumed, masks);
    // A carried integer gets the source output's exactness: first assumed, then checked.
    const wrong = Object.entries(carried).filter(([input, output]) => {
      const state = walk.state(output);
      return state.kind !== "exact" && walk.state(input).kind === "exact";
    });
    if (wrong.length === 0) return { outputs: model.graph.outputs.map(({ name }) => walk.output(name, carried)) };
    assumed = new Map(assumed);
    for (const [input, output] of wrong) assumed.set(input, walk.state(output));
  }
}

/** @param assumed The states of inputs not simply given. */
function walkModel({ graph, opsets }: Model, assumed: ReadonlyMap<string, ValueState>, masks: readonly string[]): Walk {
  const inputs = graph.inputs.map(({ name, dtype, shape }) => {
    const bound = masks.includes(name) ? maskBound(dtype) : inputBound(dtype, shape);
    return [name, assumed.get(name) ?? given(dtype, { bound })] as const;
  });
  return new Walk(graph, new Map(inputs), { opset: opsets.get("") ?? 0, visits: { left: MAX_VISITS } });
}
