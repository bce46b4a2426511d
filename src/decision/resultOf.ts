import { DType, isFloat } from "../numerics/dtype.ts";
import { nodeLabel, type Node } from "../onnx/model.ts";
import { castTarget } from "./nodeDecision.ts";
import { isUnreadOutput, operatorClass } from "./operatorClasses.ts";
import { approximate, exact, joined, unread, type ValueState } from "./valueState.ts";

/**
 * What output k of a node is. Whether a node's decision can be read is the caller's question: here it can.
 * @param inputs What its inputs are; undefined where one is left out.
 */
export function resultOf(node: Node, inputs: readonly (ValueState | undefined)[], k: number): ValueState {
  const of = operatorClass(node);
  const place = `${nodeLabel(node)} (${node.operator})`;
  const given = inputs.filter((input) => input !== undefined);
  const all = joined(given, inputs[0]?.float);
  if (of.kind === "shape") return constantResult(node);
  if (all.kind === "unread") return all;
  switch (of.kind) {
    case "movement":
      return moved(inputs, of.data, place);
    case "selection":
      if (!isUnreadOutput(node.operator, k)) return all;
      return all.kind === "exact" ? exact(false) : unread(`${place} gives places, of which no margin is read`);
    case "integers":
      return all.kind === "exact" ? { ...all, float: false } : unread(`${place} takes floats`);
    case "arithmetic":
      return arithmetic(given, all, place);
    case "whole":
      return given.every(({ float }) => float === false) ? all : approximate(place, all.constant);
    case "cast":
      return cast(place, node, inputs, all);
    case "decision":
      return decided(node, all, k);
    case "float":
      if (isUnreadOutput(node.operator, k)) return unread(`${place} gives integers, of which no margin is read`);
      if (of.integersToo === true && inputs[0]?.float === false) return unread(`${place} rounds integers`);
      return approximate(place, all.constant);
    case "unread":
      return unread(`${place} ${of.why}`);
  }
}

/** What the model and its shapes say. */
function constantResult({ operator, attributes }: Node): ValueState {
  const value = [...attributes.values()][0];
  if (operator === "Shape" || operator === "Size") return exact(false, { constant: true });
  if (operator === "EyeLike") return exact(undefined, { constant: true });
  if (value === undefined) return exact(true, { constant: true });
  const float = value.kind === "tensor" ? isFloat(value.value.dtype) : value.kind.startsWith("float");
  return exact(float, { constant: true });
}

function moved(
  inputs: readonly (ValueState | undefined)[],
  data: readonly number[] | undefined,
  place: string,
): ValueState {
  const isData = (i: number): boolean => data === undefined || data.includes(i);
  const places = inputs.filter((input, i) => input !== undefined && !isData(i)) as ValueState[];
  if (places.some(({ kind }) => kind !== "exact")) return unread(`${place} takes places from floats`);
  const first = inputs.find((_, i) => isData(i));
  return joined(
    inputs.filter((input) => input !== undefined),
    first?.float,
  );
}

function arithmetic(given: readonly ValueState[], all: ValueState, place: string): ValueState {
  if (all.kind === "exact" && given.every(({ float }) => float === false)) return all;
  // A correctly rounded operation is the same everywhere. Of several in a row, a runtime may make one.
  const isOne = all.kind === "exact" && given.length === 2 && !all.rounded;
  return isOne ? { ...all, float: true, rounded: true } : approximate(place, all.constant);
}

function cast(
  place: string,
  node: Node,
  [input, like]: readonly (ValueState | undefined)[],
  all: ValueState,
): ValueState {
  const to = castTarget(node);
  const float = node.operator === "CastLike" ? like?.float : to !== undefined && isFloat(to);
  const { kind, reason, constant, rounded } = input ?? all;
  // Runtimes do not agree on how these are rounded.
  if (to === DType.bfloat16) return approximate(place, constant);
  if (kind === "approximate") return float === true ? approximate(reason, constant) : exact(false, { constant });
  return exact(float, { constant, rounded: rounded && float !== false });
}

/** Operators of decisions whose results have the type of their input. */
const KEEP_TYPE = new Set(["Round", "Floor", "Ceil", "Sign", "Hardmax"]);

function decided({ operator }: Node, all: ValueState, k: number): ValueState {
  // The largest values themselves are continuous.
  if (operator === "TopK" && k === 0) return all;
  const float = KEEP_TYPE.has(operator) ? all.float : false;
  return exact(all.kind === "approximate" && KEEP_TYPE.has(operator) ? true : float, { constant: all.constant });
}
