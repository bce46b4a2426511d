import { isFloat, isHalf, type DType } from "../../numerics/dtype.ts";
import type { IntegerBound } from "./integerBound.ts";

/** The state of a value of the graph: whether it is the same on every machine. */
export type ValueState = {
  /**
   * - exact: the same on every machine, given the same inputs and the same earlier decisions
   * - approximate: floats that differ between machines, depending continuously on other approximate floats
   * - unread: may differ by any amount, and no margin shows the difference
   */
  kind: "exact" | "approximate" | "unread";
  /** The reason for not being exact: the node that last rounded the value, or the unread node. "" for exact values. */
  reason: string;
  /** Whether its elements are floats; undefined if that is not known. Approximate values are floats. */
  float: boolean | undefined;
  /** Whether the model alone says what it is. */
  constant: boolean;
  /** True for an exact float already rounded by one operation. */
  rounded: boolean;
  /** Known integers or bools within an exact value, at compile time. */
  bound?: IntegerBound | undefined;
};

/** An exact value. */
export const exact = (float: boolean | undefined, more: Partial<ValueState> = {}): ValueState => ({
  ...{ kind: "exact", reason: "", float, constant: false, rounded: false },
  ...more,
});

/**
 * Returns the state of a given value: an input, or a constant of the model. 16-bit floats count as already rounded:
 * runtimes widen them, and may omit rounding the computed results back.
 */
export const given = (dtype: DType, more: Partial<ValueState> = {}): ValueState =>
  exact(isFloat(dtype), { rounded: isHalf(dtype), ...more });

/** Floats that the reason gives. */
export const approximate = (reason: string, constant = false): ValueState => ({
  ...exact(true, { constant }),
  kind: "approximate",
  reason,
});

/** A value of which nothing is known. */
export const unread = (reason: string): ValueState => ({ ...exact(undefined), kind: "unread", reason });

/**
 * Returns the state of a value depending only on the given values.
 * @param float whether the value's elements are floats
 */
export function joined(values: readonly ValueState[], float?: boolean): ValueState {
  const worst = values.find(({ kind }) => kind === "unread") ?? values.find(({ kind }) => kind === "approximate");
  const constant = values.every((value) => value.constant);
  if (worst !== undefined) return { ...worst, constant };
  return exact(float, { constant, rounded: values.some(({ rounded }) => rounded) });
}
