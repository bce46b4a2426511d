import type { Model } from "../../model/onnx/model.ts";
import type { DecidedOutput, UndecidedOutput } from "../../model/decision/decision.ts";
import { given, type ValueState } from "./valueState.ts";
import { Walk } from "./findDeciders.ts";

/**
 * Nodes that are looked at, those of loops' bodies as often as their states change. It is far above what models have
 * that anybody exports.
 */
const MAX_VISITS = 2_000_000;

/** What is known of each output of a model. */
export type FoundDecisions = { outputs: (DecidedOutput | UndecidedOutput)[] };

/**
 * Finds for each output of a model whether all that may differ between machines is decided before it. An output is
 * decided if every path from it to floats that are computed from inputs passes a decision, and nothing behind that can
 * differ: integers, bools, moved elements, and one multiplication or division by a constant.
 *
 * Decisions that lie before floats which decide again belong to an output too. Deciding tensors have the names of the
 * model's own graph. What random operators draw, and what is rounded to few bits on the way, decides nothing.
 *
 * @param carried Of a run: inputs that are outputs of the item before, by name. What they carry differs as those do.
 */
export function findDecisions(model: Model, carried: Readonly<Record<string, string>> = {}): FoundDecisions {
  let assumed = new Map<string, ValueState>();
  for (;;) {
    const walk = walkModel(model, assumed);
    // An integer that is carried is as exact as the output that it was: assumed first, then checked.
    const wrong = Object.entries(carried).filter(([input, output]) => {
      const state = walk.state(output);
      return state.kind !== "exact" && walk.state(input).kind === "exact";
    });
    if (wrong.length === 0) return { outputs: model.graph.outputs.map(({ name }) => walk.output(name, carried)) };
    assumed = new Map(assumed);
    for (const [input, output] of wrong) assumed.set(input, walk.state(output));
  }
}

/** @param assumed What inputs are that are not simply given. */
function walkModel({ graph, opsets }: Model, assumed: ReadonlyMap<string, ValueState>): Walk {
  const inputs = graph.inputs.map(({ name, dtype }) => [name, assumed.get(name) ?? given(dtype)] as const);
  return new Walk(graph, new Map(inputs), { opset: opsets.get("") ?? 0, visits: { left: MAX_VISITS } });
}
