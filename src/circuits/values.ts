import { isFloat, type DType as DTypeCode } from "../numerics/dtype.ts";
import { fromWord, integer, type Fixed } from "./fixed.ts";
import { identityOf, withAction, type Action, type Function } from "./functions.ts";
import type { Choice } from "./tables.ts";

/** A word inside a circuit: a constant, or a varying number. */
export type Value = Known | Varying;
export type Known = { readonly word: bigint };
/** A number, and the possible numbers of an integer, where known. */
export type Varying = { readonly fixed: Fixed; readonly choice?: Choice };

/** Whether an operand is a constant. */
export const isKnown = (slot: Slot): slot is Known => "word" in slot;

/** A value as a number. @throws CircuitRefusalError for infinities and NaN */
export function numberOf(value: Value, dtype: DTypeCode): Fixed {
  if (!isKnown(value)) return value.fixed;
  return isFloat(dtype) ? fromWord(value.word) : integer(value.word);
}

/** A function of a varying number, without constraints yet. */
export class Pending {
  readonly base: Varying | Pending;
  readonly action: Action;
  readonly function: Function;
  result: Value | undefined;

  constructor(base: Varying | Pending, action: Action) {
    [this.base, this.action] = [base, action];
    const before = base instanceof Pending ? base.function : identityOf({ ...base, dtype: action.dtype });
    this.function = withAction(before, action);
  }
}

/** An instruction's operand. */
export type Slot = Value | Pending;

/** A function's result, if it has been computed. */
export const current = (slot: Slot): Slot => (slot instanceof Pending ? (slot.result ?? slot) : slot);
