import type { Node } from "../onnx/model.ts";
import type { ReadDecision, Surroundings } from "./readDecision.ts";

/**
 * How an operator treats values that may differ between machines, and values that do not.
 * `src/compiler/decisions` follows these classes from a model's inputs to its outputs.
 */
export type OperatorClass =
  /**
   * The outputs follow from shapes and attributes. `gives`: integers, elements in an attribute's type, or elements in
   * an unexamined type.
   */
  | { kind: "shape"; gives: "integers" | "attribute" | "either" }
  /**
   * Moves elements from the inputs in `data`, or from all inputs if `data` is left out. The other inputs give the
   * destinations. `reduces`: with an attribute `reduction`, the operator adds or multiplies elements that go to the
   * same place.
   */
  | { kind: "movement"; data?: readonly number[]; reduces?: true }
  /** Chooses among its inputs' elements, up to their signs. Nothing is rounded. The output `places` has the places. */
  | { kind: "selection"; places?: number }
  /** A single operation of IEEE 754, or of integers, for each element. `divides`: the operation is a division. */
  | { kind: "arithmetic"; divides?: true }
  /**
   * Exact on integers. Its floats depend on an order of operations. `saturates`: runtimes add or multiply integers in
   * another type, which ends at the type's ends where the definition wraps around.
   */
  | { kind: "whole"; saturates?: true }
  /**
   * Takes and gives integers or bools. `products`: sums of products of bytes, which some processors saturate in pairs:
   * never of a right operand of bytes without sign, nor of constant weights of few bits (`right`).
   */
  | { kind: "integers"; products?: "right" | "all" }
  /** Converts elements to another type. `like`: to the type of its second input. */
  | { kind: "cast"; read: ReadDecision; like?: true }
  /**
   * The outputs are discrete, whatever the inputs are, and `read` says how the margin is read. `keepsType`: the result
   * has the type of the first input. `values`: output 0 has the chosen values, which are continuous.
   * `isUnordered`: whether a node gives its elements in an order that differs between machines.
   */
  | {
      kind: "decision";
      read: ReadDecision;
      keepsType?: true;
      values?: true;
      isUnordered?: (node: Node, around: Pick<Surroundings, "opset" | "constant">) => boolean;
    }
  /**
   * Gives floats that differ between machines in their last bits. `integersToo`: of integers it may give integers.
   * `integers`: an output that holds integers, whose margin is not read.
   */
  | { kind: "float"; integersToo?: true; integers?: number }
  /** A small input difference can be a large output difference, and no margin is read. `why`: the reason. */
  | { kind: "unread"; why: string };

export const INTEGERS_OF_SHAPE: OperatorClass = { kind: "shape", gives: "integers" };
export const moves = (...data: number[]): OperatorClass => ({ kind: "movement", data });
/** Movement of data and updates to given places, where a reduction may join them. */
export const SCATTER: OperatorClass = { kind: "movement", data: [0, 2], reduces: true };
export const SELECTION: OperatorClass = { kind: "selection" };
export const ARITHMETIC: OperatorClass = { kind: "arithmetic" };
export const WHOLE: OperatorClass = { kind: "whole" };
export const SATURATING: OperatorClass = { kind: "whole", saturates: true };
export const INTEGERS: OperatorClass = { kind: "integers" };
export const decides = (read: ReadDecision): OperatorClass => ({ kind: "decision", read });
/** A decision with a result in the first input's type. */
export const decidesInType = (read: ReadDecision): OperatorClass => ({ kind: "decision", read, keepsType: true });
export const FLOATS: OperatorClass = { kind: "float" };
export const FLOATS_OR_INTEGERS: OperatorClass = { kind: "float", integersToo: true };
export const ROUNDING: OperatorClass = { kind: "unread", why: "rounds to few bits, of which no margin is read" };
export const JUMPING: OperatorClass = { kind: "unread", why: "jumps at boundaries of which no margin is read" };
export const BITS: OperatorClass = { kind: "unread", why: "reads the bits of elements, of which no margin is read" };
export const RANDOM: OperatorClass = {
  kind: "unread",
  why: "draws random numbers, which every runtime does otherwise",
};
export const NOT_LOOKED_INTO: OperatorClass = {
  kind: "unread",
  why: "is not known to give one result on all machines",
};
