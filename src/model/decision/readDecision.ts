import { DType, dtypeBytes, isDType, isFloat, isSigned, readWord } from "../../numerics/dtype.ts";
import { nodeLabel, type Node, type TensorData } from "../onnx/model.ts";
import type { Decision, RoundingBoundaries } from "./decision.ts";

/** The graph around a node, for reading a decision. */
export type Surroundings = {
  /** Whether the node's inputs are the same on every machine, and whether they depend on no input of the model. */
  exact: boolean;
  isConstant: boolean;
  opset: number;
  /** Returns a name's constant, if the model has one. */
  constant: (name: string) => TensorData | undefined;
  producer: (name: string) => Node | undefined;
};

/**
 * Reads a node's decision about floats.
 * @param common The fields common to all decisions; the node's first input is the deciding value.
 * @returns the decision; the reason if no margin is read; undefined if the node decides nothing
 */
export type ReadDecision = (node: Node, common: Common, around: Surroundings) => Decision | string | undefined;

type Common = { node: string; operator: string; tensors: string[]; constant?: true };

/** The decision of a node by the reading of its operator's class. */
export const nodeDecision = (node: Node, read: ReadDecision, around: Surroundings): ReturnType<ReadDecision> =>
  read(
    node,
    {
      node: nodeLabel(node),
      operator: node.operator,
      tensors: [node.inputs[0]!],
      ...(around.isConstant && { constant: true }),
    },
    around,
  );

/** Which of two tensors is larger. */
export const comparison: ReadDecision = ({ inputs }, common) => ({
  ...common,
  kind: "comparison",
  tensors: [...inputs],
});

/** Reads the place of a row's largest or least value. */
export const argument =
  (largest: boolean): ReadDecision =>
  (node, common) => ({ ...common, kind: "argmax", axis: int(node, "axis", 0), largest });

export const hardmax: ReadDecision = (node, common, { opset }) =>
  opset < 13
    ? "flattens its input, as before operator set 13"
    : { ...common, kind: "argmax", axis: int(node, "axis", -1), largest: true };

/** On which side of 0 a value lies. */
export const sign: ReadDecision = (_, common) => ({ ...common, kind: "sign" });

/** Rounding to a whole number. */
export const rounding =
  (boundaries: RoundingBoundaries): ReadDecision =>
  ({ inputs }, common, around) => ({ ...common, kind: "rounding", boundaries, ...decimals(inputs[0]!, around) });

/** Why a TopK without an order is not read: each runtime gives another order. */
export const UNORDERED = "gives the largest elements in no order (sorted=0)";

/** Returns true if a TopK gives several largest elements in no order: the order differs between machines. */
export const isUnordered = (node: Node, around: Pick<Surroundings, "opset" | "constant">): boolean =>
  int(node, "sorted", 1) === 0 && largestCount(node, around) !== 1;

/** How many elements a TopK gives; undefined if the model does not say. */
const largestCount = (node: Node, { opset, constant }: Pick<Surroundings, "opset" | "constant">): number | undefined =>
  opset < 10 ? int(node, "k", 0) : wholeConstant(constant(node.inputs[1] ?? ""));

export const topK: ReadDecision = (node, common, around) => {
  const k = largestCount(node, around);
  if (k === undefined) return "takes the number of elements from a value that is not constant";
  return { ...common, kind: "topk", axis: int(node, "axis", -1), k, largest: int(node, "largest", 1) !== 0 };
};

/**
 * Where inputs are exact, only a conversion to integers decides anything: runtimes differ in how they convert numbers
 * outside of the type's range.
 */
export const cast: ReadDecision = (node, common, { exact }) => {
  const to = castTarget(node);
  if (to === undefined) return "converts to a type that is not read";
  if (isFloat(to) || (exact && to === DType.bool)) return undefined;
  if (to === DType.bool) return { ...common, kind: "sign" };
  const bits = 8 * dtypeBytes(to);
  const range = isSigned(to) ? ([-(2 ** (bits - 1)), 2 ** (bits - 1)] as const) : ([-1, 2 ** bits] as const);
  return { ...common, kind: "rounding", boundaries: exact ? "none" : "wholeButZero", range };
};

export const castLike: ReadDecision = () => "converts to the type of another value, which is not read";

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
