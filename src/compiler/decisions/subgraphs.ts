import { nodeLabel, type Body, type Node } from "../../model/onnx/model.ts";
import { eitherBound, isSameBound } from "./integerBound.ts";
import { exact, joined, unread, type ValueState } from "./valueState.ts";

/** Walks through a body. @returns what its outputs are */
type WalkBody = (body: Body, inputs: ReadonlyMap<string, ValueState>) => ValueState[];

/**
 * Returns the output states of a node with bodies; undefined for another node. A branch's choice, and a loop's number
 * of iterations, must be exact.
 * @param inputs The states of the node's inputs; undefined where an input is left out.
 */
export function controlResults(
  node: Node,
  inputs: readonly (ValueState | undefined)[],
  walk: WalkBody,
): ValueState[] | undefined {
  const place = `${nodeLabel(node)} (${node.operator})`;
  const body = bodyOf(node, "body");
  if (node.domain !== "") return undefined;
  if (node.operator === "If") return branches(node, inputs[0], place, walk);
  if (node.operator === "Loop" && body !== undefined) {
    const given = present(inputs.slice(2), place);
    const all = [exact(false), exact(false), ...given];
    const outputs = repeated(body, { inputs: all, first: 2, states: given.length, results: 1 }, walk);
    const ends = joined([...inputs.slice(0, 2), outputs[0]].filter((state) => state !== undefined));
    const results = outputs.slice(1);
    return ends.kind === "exact" ? results : results.map(() => unread(`${place} runs as often as floats say`));
  }
  if (node.operator === "Scan" && body !== undefined) {
    const scanned = node.attributes.get("num_scan_inputs");
    const states = inputs.length - (scanned?.kind === "int" ? Number(scanned.value) : 0);
    return repeated(body, { inputs: present(inputs, place), first: 0, states, results: 0 }, walk);
  }
  return undefined;
}

function bodyOf({ attributes }: Node, name: string): Body | undefined {
  const attribute = attributes.get(name);
  return attribute?.kind === "graph" ? attribute.value : undefined;
}

const present = (inputs: readonly (ValueState | undefined)[], place: string): ValueState[] =>
  inputs.map((input) => input ?? unread(`${place} has an input that is missing`));

function branches(node: Node, condition: ValueState | undefined, place: string, walk: WalkBody): ValueState[] {
  const [yes, no] = ["then_branch", "else_branch"].map((name) => {
    const body = bodyOf(node, name);
    return body === undefined ? [] : walk(body, new Map());
  }) as [ValueState[], ValueState[]];
  return node.outputs.map((_, k) => {
    const [a, b] = [yes[k], no[k]];
    if (a === undefined || b === undefined) return unread(`${place} does not give it`);
    if (condition?.kind !== "exact") return unread(condition?.reason ?? `${place} has no condition`);
    const either = merged(a, b);
    return { ...either, constant: either.constant && condition.constant };
  });
}

/**
 * Walks a repeated body: each state comes from the initial value or from the body's result.
 * @param inputs The body's inputs, with its states from `first` on.
 * @param results The number of body outputs before the next states.
 * @returns the body's outputs after any number of runs
 */
function repeated(
  body: Body,
  { inputs, first, states, results }: { inputs: ValueState[]; first: number; states: number; results: number },
  walk: WalkBody,
): ValueState[] {
  for (;;) {
    const outputs = walk(body, new Map(body.inputs.map((name, i) => [name, inputs[i] ?? exact(undefined)])));
    let isStable = true;
    for (let k = 0; k < states; k++) {
      const before = inputs[first + k]!;
      const after = merged(before, outputs[results + k] ?? before);
      // A bound that grows in a round has no end that would be found soon.
      if (!isSameBound(after.bound, before.bound)) after.bound = undefined;
      isStable &&= isSame(after, before);
      inputs[first + k] = outputs[results + k] = after;
    }
    // Each round's element of what is stacked has its own bound, the stack has more of them.
    if (isStable) return outputs.map((state, k) => (k < results + states ? state : { ...state, bound: undefined }));
  }
}

/** The state of a value that a node chooses from two values. */
const merged = (a: ValueState, b: ValueState): ValueState => {
  const either = joined([a, b], a.float === b.float ? a.float : undefined);
  return { ...either, bound: either.kind === "exact" ? eitherBound(a.bound, b.bound) : undefined };
};

const isSame = (a: ValueState, b: ValueState): boolean =>
  a.kind === b.kind &&
  a.float === b.float &&
  a.constant === b.constant &&
  a.rounded === b.rounded &&
  isSameBound(a.bound, b.bound);
