import { arithmeticOf } from "../numerics/arithmetic.ts";
import { DType, isFloat, type DType as DTypeCode, type Word } from "../numerics/dtype.ts";
import { ExactSum, FLOAT64_LIMBS, limbCount } from "../numerics/exactSum.ts";
import * as integer from "../numerics/integer.ts";
import { Reduce, type Step } from "./types.ts";

/** Folds a step's terms; `result` gives the accumulator slots (docs/program.md, "Reduce"). */
type Reduction = { add(a: Word, b: Word, r: number): void; result(): Word[] };

/** Whether a reduction adds limbs. */
export const isTotal = (reduce: Reduce): boolean => reduce === Reduce.total || reduce === Reduce.partialTotal;

/** Returns whether a float reduction gives the limbs of the exact sum instead of rounding the sum. */
export const isPartial = (reduce: Reduce): boolean => reduce === Reduce.partialSum || reduce === Reduce.partialDot;

/** Whether terms are products of two results. */
export const isDot = (reduce: Reduce): boolean => reduce === Reduce.dot || reduce === Reduce.partialDot;

/** Whether a reduction uses both of the term's results. */
export const hasTwoResults = (reduce: Reduce): boolean => isDot(reduce) || reduce === Reduce.last;

/** Whether a reduction adds exactly: floats, or words of such a sum. */
export const isExact = ({ reduce, reduceType }: Pick<Step, "reduce" | "reduceType">): boolean =>
  isTotal(reduce) || isPartial(reduce) || (isFloat(reduceType!) && (reduce === Reduce.sum || isDot(reduce)));

/** Returns the number of words per exact sum, for a step reading or writing limbs. */
export const limbsOf = ({
  reduce,
  reduceType,
  outDigits,
}: Pick<Step, "reduce" | "reduceType" | "outDigits">): number =>
  reduce === Reduce.partialTotal ? outDigits.at(-1)! : limbCount(reduceType!);

/** The type of a term's results; of `last` that of the second one. */
export const termType = ({ reduce, reduceType }: Pick<Step, "reduce" | "reduceType">): DTypeCode =>
  isTotal(reduce) ? DType.limb : reduceType!;

/** Returns the types of a reduction's accumulators, in slot order. */
export function accumulatorTypes({ reduce, reduceType }: Pick<Step, "reduce" | "reduceType">): DTypeCode[] {
  if (reduceType === undefined) return [];
  if (reduce === Reduce.last) return [reduceType, DType.bool];
  if (isPartial(reduce)) return [DType.limb];
  return [reduce >= Reduce.argmax && reduce <= Reduce.argminLast ? DType.int64 : reduceType];
}

/**
 * Starts a step's reduction for one element.
 * @param step A step whose reduction has a type.
 * @param limb The value of the element's last out digit: for a partial sum, the requested limb.
 */
export function startReduction(step: Pick<Step, "reduce" | "reduceType" | "outDigits">, limb: number): Reduction {
  const { reduce } = step;
  const dtype = step.reduceType!;
  switch (reduce) {
    case Reduce.none:
      return { add: () => undefined, result: () => [] };
    case Reduce.sum:
    case Reduce.dot:
      return isFloat(dtype) ? exactFloat(reduce, dtype) : modular(reduce, dtype);
    case Reduce.max:
      return extremum(isFloat(dtype) ? arithmeticOf(dtype).max : (a, b) => integer.max(a, b, dtype));
    case Reduce.min:
      return extremum(isFloat(dtype) ? arithmeticOf(dtype).min : (a, b) => integer.min(a, b, dtype));
    case Reduce.last:
      return lastMatch();
    case Reduce.partialSum:
    case Reduce.partialDot:
      return exactFloat(reduce, dtype, limb);
    case Reduce.total:
      return total(dtype);
    case Reduce.partialTotal:
      return total(limbsOf(step) === FLOAT64_LIMBS ? DType.float64 : DType.float32, limb);
    default:
      return position(reduce, dtype);
  }
}

function exactFloat(reduce: Reduce, dtype: DTypeCode, limb?: number): Reduction {
  const sum = new ExactSum(arithmeticOf(dtype));
  return {
    add: (a, b) => (isDot(reduce) ? sum.addProduct(a, b) : sum.add(a)),
    result: () => [limb === undefined ? sum.round() : sum.limb(limb)],
  };
}

function total(dtype: DTypeCode, limb?: number): Reduction {
  const sum = new ExactSum(arithmeticOf(dtype));
  return {
    add: (word, _, r) => sum.addLimb(r % sum.limbCount, word),
    result: () => [limb === undefined ? sum.wrapped().round() : sum.limb(limb)],
  };
}

function modular(reduce: Reduce, dtype: DTypeCode): Reduction {
  let sum = 0n;
  return {
    add: (a, b) => void (sum += reduce === Reduce.dot ? a * b : a),
    result: () => [integer.wrap(sum, dtype)],
  };
}

function extremum(pick: (a: Word, b: Word) => Word): Reduction {
  let best: Word | undefined;
  return { add: (a) => void (best = best === undefined ? a : pick(best, a)), result: () => [best!] };
}

function lastMatch(): Reduction {
  let value = 0n;
  let found = 0n;
  return {
    add: (a, b) => {
      if (a !== 0n) [value, found] = [b, 1n];
    },
    result: () => [value, found],
  };
}

function position(reduce: Reduce, dtype: DTypeCode): Reduction {
  const greatest = reduce === Reduce.argmax || reduce === Reduce.argmaxLast;
  const lowestIndex = reduce === Reduce.argmax || reduce === Reduce.argmin;
  let best: Word | undefined;
  let at = 0n;
  return {
    add: (a, _, r) => {
      const wins = best === undefined || (lowestIndex ? beats(a, best) : !beats(best, a));
      if (wins) [best, at] = [a, BigInt(r)];
    },
    result: () => [at],
  };

  /** Returns whether a is strictly before b in the search order; NaN comes first in both orders (greatest, least). */
  function beats(a: Word, b: Word): boolean {
    if (isFloat(dtype)) {
      const { isNaN, lt } = arithmeticOf(dtype);
      if (isNaN(a) || isNaN(b)) return isNaN(a) && !isNaN(b);
      return (greatest ? lt(b, a) : lt(a, b)) === 1n;
    }
    return greatest ? a > b : a < b;
  }
}
