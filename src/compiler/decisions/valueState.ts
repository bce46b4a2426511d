import { isFloat, isHalf, type DType } from "../../numerics/dtype.ts";

/** The state of a value of the graph: whether it is the same on every machine. */
export type ValueState = {
  /**
   * - exact: the same on every machine, given the inputs and that the decisions before it are the same
   * - approximate: floats that differ between machines, as far as they depend continuously on such floats
   * - unread: it may differ by any amount; no margin says so
   */
  kind: "exact" | "approximate" | "unread";
  /** Why it is not exact: the node that last rounded it, or that is not read. "" of what is exact. */
  reason: string;
  /** Whether its elements are floats; undefined if that is not known. Approximate values are floats. */
  float: boolean | undefined;
  /** Whether the model alone says what it is. */
  constant: boolean;
  /** Whether it is an exact float that one operation has rounded already. */
  rounded: boolean;
};

/** An exact value. */
export const exact = (float: boolean | undefined, more: Partial<ValueState> = {}): ValueState => ({
  ...{ kind: "exact", reason: "", float, constant: false, rounded: false },
  ...more,
});

/**
 * A value that is given: an input, or a constant of the model. Floats of 16 bits count as rounded already, because
 * runtimes widen them, and may leave out the rounding back of what is computed of them.
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

/** The state of a value that depends on others only. @param float whether its elements are floats */
export function joined(values: readonly ValueState[], float?: boolean): ValueState {
  const worst = values.find(({ kind }) => kind === "unread") ?? values.find(({ kind }) => kind === "approximate");
  const constant = values.every((value) => value.constant);
  if (worst !== undefined) return { ...worst, constant };
  return exact(float, { constant, rounded: values.some(({ rounded }) => rounded) });
}
