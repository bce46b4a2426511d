import { DType, dtypeBytes, isFloat, isSigned, readWord } from "../../numerics/dtype.ts";
import { wordNumber } from "../../numerics/numbers.ts";
import { nodeLabel, type Node, type TensorData } from "../../model/onnx/model.ts";
import { castTarget } from "../../model/decision/readDecision.ts";
import type { OperatorClass } from "../../model/decision/operatorClass.ts";
import { resultBound, staysExact, type IntegerBound } from "./integerBound.ts";
import { operatorClass } from "./operatorClass.ts";
import { approximate, exact, given, joined, unread, type ValueState } from "./valueState.ts";

/**
 * The state of output k of a node. The caller has found that the node's decision can be read, if the node makes one.
 * @param inputs The states of the node's inputs; undefined where an input is left out.
 * @param constants The constants of the graph, by name.
 */
export function resultOf(
  node: Node,
  inputs: readonly (ValueState | undefined)[],
  k: number,
  constants: ReadonlyMap<string, TensorData>,
): ValueState {
  const of = operatorClass(node);
  const bounds = inputs.map((input) => input?.bound);
  const result = stateOf(node, of, { inputs, bounds, k, constants });
  const isInteger = result.kind === "exact" && result.float === false;
  return { ...result, bound: isInteger ? resultBound(node, of, bounds, k) : undefined };
}

type Operands = {
  inputs: readonly (ValueState | undefined)[];
  bounds: readonly (IntegerBound | undefined)[];
  k: number;
  constants: ReadonlyMap<string, TensorData>;
};

/** The state without a bound. */
function stateOf(node: Node, of: OperatorClass, { inputs, bounds, k, constants }: Operands): ValueState {
  const place = `${nodeLabel(node)} (${node.operator})`;
  const present = inputs.filter((input) => input !== undefined);
  const all = joined(present, inputs[0]?.float);
  if (of.kind === "shape") return constantResult(node, of.gives);
  if (all.kind === "unread") return all;
  switch (of.kind) {
    case "movement":
      return moved(inputs, of.data, place);
    case "selection":
      if (of.places !== k) return all;
      // Also of exact elements: runtimes give other places in a window of the type's least elements alone.
      return unread(`${place} gives places, of which no margin is read`);
    case "integers":
      if (all.kind !== "exact") return unread(`${place} takes floats`);
      return of.products === undefined || all.constant || isNeverSaturated(node, of.products, constants)
        ? { ...all, float: false }
        : unread(`${place} adds products of bytes, which some processors saturate`);
    case "arithmetic":
      return arithmetic(node, present, all, constants, of.divides === true);
    case "whole":
      if (present.some(({ float }) => float !== false)) return approximate(place, all.constant);
      return of.saturates && !all.constant && !staysExact(node, bounds)
        ? unread(`${place} adds integers, which runtimes may saturate`)
        : all;
    case "cast":
      return cast(place, node, inputs, all, of.like === true);
    case "decision":
      return decided(of, all, k);
    case "float":
      if (of.integers === k) return unread(`${place} gives integers, of which no margin is read`);
      if (of.integersToo === true && inputs[0]?.float === false) return unread(`${place} rounds integers`);
      return approximate(place, all.constant);
    case "unread":
      return unread(`${place} ${of.why}`);
  }
}

/** The largest magnitude of a weight with which two products by a byte stay within 16 bits: 2 * 255 * 64 < 2^15. */
const MAX_WEIGHT = 64;

/** Whether no pair of products by bytes can pass 16 bits, which processors without VNNI add in. */
function isNeverSaturated(
  { inputs }: Node,
  products: "right" | "all",
  constants: ReadonlyMap<string, TensorData>,
): boolean {
  const right = constants.get(inputs[1]!);
  if (products === "all" || right === undefined) return false;
  return right.dtype === DType.uint8 || right.bytes.every((byte) => Math.abs((byte << 24) >> 24) <= MAX_WEIGHT);
}

/** A value given by the model and the shapes. */
function constantResult({ attributes }: Node, gives: "integers" | "attribute" | "either"): ValueState {
  if (gives !== "attribute") return exact(gives === "integers" ? false : undefined, { constant: true });
  const value = [...attributes.values()][0];
  if (value === undefined) return exact(true, { constant: true });
  if (value.kind === "tensor") return given(value.value.dtype, { constant: true });
  return exact(value.kind.startsWith("float"), { constant: true });
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

function arithmetic(
  node: Node,
  present: readonly ValueState[],
  all: ValueState,
  constants: ReadonlyMap<string, TensorData>,
  isDivision: boolean,
): ValueState {
  const place = `${nodeLabel(node)} (${node.operator})`;
  const divisor = isDivision ? constants.get(node.inputs[1]!) : undefined;
  const divides = (by: number): boolean => divisor === undefined || holds(divisor, by);
  if (all.kind === "exact" && present.every(({ float }) => float === false)) {
    // The least integer by -1 ends the whole process where the processor divides.
    if (isDivision && !all.constant && divides(-1)) return unread(`${place} divides integers`);
    return all;
  }
  // A correctly rounded operation is the same everywhere. A runtime may join several operations to one. 0 / 0 is NaN,
  // which runtimes compare in different ways, and a quotient by 0 depends on the sign of 0.
  const isOne = all.kind === "exact" && present.length === 2 && !all.rounded && !(isDivision && divides(0));
  return isOne ? { ...all, float: true, rounded: true } : approximate(place, all.constant);
}

/** Whether a tensor has an element of a value. */
function holds({ bytes, dtype }: TensorData, value: number): boolean {
  const size = dtypeBytes(dtype);
  const numberOf = (word: bigint): number => {
    if (isFloat(dtype)) return wordNumber(word, dtype);
    return Number(isSigned(dtype) ? BigInt.asIntN(8 * size, word) : word);
  };
  for (let i = 0; i < bytes.length / size; i++) if (numberOf(readWord(bytes, i, dtype)) === value) return true;
  return false;
}

function cast(
  place: string,
  node: Node,
  [input, like]: readonly (ValueState | undefined)[],
  all: ValueState,
  isLike: boolean,
): ValueState {
  const to = castTarget(node);
  const float = isLike ? like?.float : to !== undefined && isFloat(to);
  const { kind, reason, constant, rounded } = input ?? all;
  // Runtimes do not agree on how bfloat16 is rounded, and may leave out the rounding to float16.
  if (to === DType.bfloat16 || (to === DType.float16 && input?.float !== false)) return approximate(place, constant);
  if (kind === "approximate") return float === true ? approximate(reason, constant) : exact(false, { constant });
  return exact(float, { constant, rounded: rounded && float !== false });
}

function decided(of: Extract<OperatorClass, { kind: "decision" }>, all: ValueState, k: number): ValueState {
  if (of.values === true && k === 0) return all;
  const keepsType = of.keepsType === true;
  const float = keepsType ? (all.kind === "approximate" ? true : all.float) : false;
  return exact(float, { constant: all.constant });
}
