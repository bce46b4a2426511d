import type { Node } from "../onnx/model.ts";
import type { ReadDecision, Surroundings } from "./readDecision.ts";

/**
 * How an operator treats values that may differ between machines, and values that do not.
 * `src/compiler/decisions` follows these classes from a model's inputs to its outputs.
 */
export type OperatorClass =
  /**
   * The outputs follow from shapes and attributes. `gives`: integers, elements of the type that an attribute has, or
   * elements of a type that is not looked up.
   */
  | { kind: "shape"; gives: "integers" | "attribute" | "either" }
  /**
   * Moves elements of the inputs in `data`, of all inputs if `data` is left out. The other inputs say where to.
   * `reduces`: with an attribute `reduction` it adds or multiplies where several elements go to one place.
   */
  | { kind: "movement"; data?: readonly number[]; reduces?: true }
  /** Chooses among its inputs' elements, up to their signs. Nothing is rounded. The output `places` has the places. */
  | { kind: "selection"; places?: number }
  /** One operation of IEEE 754 for each element, or one operation of integers. `divides`: the operation is a division. */
  | { kind: "arithmetic"; divides?: true }
  /** Exact on integers. Its floats depend on an order of operations. */
  | { kind: "whole" }
  /** Takes and gives integers or bools. */
  | { kind: "integers" }
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
   * `integers`: an output that holds integers, of which no margin is read.
   */
  | { kind: "float"; integersToo?: true; integers?: number }
  /** A small difference of its inputs can be a large difference of its outputs, and no margin is read: why. */
  | { kind: "unread"; why: string };

export const INTEGERS_OF_SHAPE: OperatorClass = { kind: "shape", gives: "integers" };
export const moves = (...data: number[]): OperatorClass => ({ kind: "movement", data });
/** Movement of data and updates to given places, where a reduction may join them. */
export const SCATTER: OperatorClass = { kind: "movement", data: [0, 2], reduces: true };
export const SELECTION: OperatorClass = { kind: "selection" };
export const ARITHMETIC: OperatorClass = { kind: "arithmetic" };
export const WHOLE: OperatorClass = { kind: "whole" };
export const INTEGERS: OperatorClass = { kind: "integers" };
export const decides = (read: ReadDecision): OperatorClass => ({ kind: "decision", read });
/** A decision whose result has the type of the first input. */
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
export const NOT_LOOKED_INTO: OperatorClass = { kind: "unread", why: "is not looked into" };
