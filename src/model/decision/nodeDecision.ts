import { DType, dtypeBytes, isDType, isFloat, isSigned, readWord } from "../../numerics/dtype.ts";
import { nodeLabel, type Node, type TensorData } from "../onnx/model.ts";
import type { Decision, RoundingBoundaries } from "./decision.ts";

/** The information about the graph around a node. */
export type Surroundings = {
  /** Whether the node's inputs are the same on every machine, and whether they depend on no input of the model. */
  exact: boolean;
  isConstant: boolean;
  opset: number;
  /** Returns a name's constant, if the model has one. */
  constant: (name: string) => TensorData | undefined;
  producer: (name: string) => Node | undefined;
};

const BOUNDARIES: ReadonlyMap<string, RoundingBoundaries> = new Map([
  ["Round", "halves"],
  ["Floor", "whole"],
  ["Ceil", "whole"],
]);

/**
 * Returns a node's decision from floats. With exact inputs, only conversions to integers decide anything: other
 * runtimes convert values outside the type's range differently.
 * @returns a reason if no margin can be read; undefined if the node decides nothing
 */
export function nodeDecision(node: Node, around: Surroundings): Decision | string | undefined {
  const { exact, isConstant } = around;
  if (exact && node.operator !== "Cast" && node.operator !== "CastLike") return undefined;
  const { operator, inputs } = node;
  const common = {
    node: nodeLabel(node),
    operator,
    tensors: [inputs[0]!],
    ...(isConstant && { constant: true as const }),
  };
  const largest = operator !== "ArgMin";
  const boundaries = BOUNDARIES.get(operator);
  if (boundaries !== undefined) return { ...common, kind: "rounding", boundaries, ...decimals(inputs[0]!, around) };
  switch (operator) {
    case "ArgMax":
    case "ArgMin":
      return { ...common, kind: "argmax", axis: int(node, "axis", 0), largest };
    case "Hardmax":
      if (around.opset < 13) return "flattens its input, as before operator set 13";
      return { ...common, kind: "argmax", axis: int(node, "axis", -1), largest };
    case "TopK":
      return topK(node, common, around);
    case "Sign":
    case "NonZero":
      return { ...common, kind: "sign" };
    case "Cast":
      return cast(node, common, exact);
    case "CastLike":
      return "converts to the type of another value, which is not read";
    default:
      return { ...common, kind: "comparison", tensors: inputs };
  }
}

type Common = { node: string; operator: string; tensors: string[]; constant?: true };

/** The reason for not reading a TopK without an order: each runtime gives a different order. */
export const UNORDERED = "gives the largest elements in no order (sorted=0)";

/** Returns true if a node gives several largest elements in no order; the order then differs between machines. */
export const isUnordered = (node: Node, around: Pick<Surroundings, "opset" | "constant">): boolean =>
  node.operator === "TopK" && node.domain === "" && int(node, "sorted", 1) === 0 && largestCount(node, around) !== 1;

/** How many elements a TopK gives; undefined if the model does not say. */
const largestCount = (node: Node, { opset, constant }: Pick<Surroundings, "opset" | "constant">): number | undefined =>
  opset < 10 ? int(node, "k", 0) : wholeConstant(constant(node.inputs[1] ?? ""));

function topK(node: Node, common: Common, around: Surroundings): Decision | string {
  const k = largestCount(node, around);
  if (k === undefined) return "takes the number of elements from a value that is not constant";
  return { ...common, kind: "topk", axis: int(node, "axis", -1), k, largest: int(node, "largest", 1) !== 0 };
}

function cast(node: Node, common: Common, exact: boolean): Decision | string | undefined {
  const to = castTarget(node);
  if (to === undefined) return "converts to a type that is not read";
  if (isFloat(to) || (exact && to === DType.bool)) return undefined;
  if (to === DType.bool) return { ...common, kind: "sign" };
  const bits = 8 * dtypeBytes(to);
  const range = isSigned(to) ? ([-(2 ** (bits - 1)), 2 ** (bits - 1)] as const) : ([-1, 2 ** bits] as const);
  return { ...common, kind: "rounding", boundaries: exact ? "none" : "wholeButZero", range };
}

/** The type that a Cast converts to. */
export function castTarget(node: Node): DType | undefined {
  const to = int(node, "to", 0);
  return isDType(to) ? to : undefined;
}

/** Returns the decimals that a rounding keeps, if the rounded value was first multiplied by this power of ten. */
function decimals(rounded: string, { producer, constant }: Surroundings): { decimals?: number } {
  const scaled = producer(rounded);
  if (scaled?.operator !== "Mul" || scaled.domain !== "") return {};
  for (const name of scaled.inputs) {
    const factor = floatConstant(constant(name));
    const digits = factor === undefined ? NaN : Math.log10(factor);
    if (Number.isInteger(digits) && digits >= 0) return { decimals: digits };
  }
  return {};
}

function int({ attributes }: Node, name: string, value: number): number {
  const attribute = attributes.get(name);
  return attribute?.kind === "int" ? Number(attribute.value) : value;
}

const wholeConstant = (tensor: TensorData | undefined): number | undefined =>
  tensor?.bytes.length === 8 && tensor.dtype === DType.int64
    ? Number(readWord(tensor.bytes, 0, tensor.dtype))
    : undefined;

function floatConstant(tensor: TensorData | undefined): number | undefined {
  if (tensor?.dtype !== DType.float32 || tensor.bytes.length !== 4) return undefined;
  return new DataView(tensor.bytes.buffer, tensor.bytes.byteOffset, 4).getFloat32(0, true);
}
