import { DType, dtypeBytes, isFloat, isHalf, type DType as DTypeCode } from "../numerics/dtype.ts";
import { Op } from "./operations.ts";
import { isDot, isPartial, isTotal } from "./reduction.ts";
import { product } from "./sums.ts";
import { Reduce, type Axis, type Step, type View } from "./types.ts";

/**
 * The limit for affine parts of coordinates, and products of extents with divisors, in loops: they are computed in 32
 * bits.
 */
export const REACH = 2 ** 31;

/** With fewer terms, a total remains exact in float64 lanes of 32 bits. */
const MAX_TOTAL_TERMS = 2 ** 21;

/** Coordinates below this limit are exact in plain numbers. */
const MAX_OFFSET = 2 ** 52;

/** The least and greatest value of an axis' affine part. */
export function axisRange({ base, coeffs }: Axis, radixOf: (digit: number) => number): [number, number] {
  let low = base;
  let high = base;
  for (const { digit, coeff } of coeffs) {
    const extreme = coeff * (radixOf(digit) - 1);
    if (extreme < 0) low += extreme;
    else high += extreme;
  }
  return [low, high];
}

/** Returns whether a view reads only within bounds, for all digit values. */
export function staysInside(view: View, radices: readonly number[]): boolean {
  return view.axes.every((axis) => {
    const [low, high] = axisRange(axis, (digit) => radices[digit] ?? 1);
    return axis.indirect === undefined && axis.div === 1 && low >= 0 && high < axis.extent;
  });
}

/**
 * Returns whether loops compute the step's types in every case. Excluded: float64, for which loops leave to the
 * definition all results that their error bounds do not settle, and casts that loops would round twice.
 */
export function hasSettledTypes(step: Step): boolean {
  const { dtype, inputs, constants, term, epilogue } = step;
  const parts = [...inputs, ...constants, ...term.code, ...epilogue.code];
  const types = [dtype, ...parts.map((part) => part.dtype), ...castsOf(step).map(({ to }) => to)];
  return !types.includes(DType.float64) && castsOnce(step);
}

/** Whether loops round each cast of a step once: not from float64 to 16 bits, nor from a large integer to bfloat16. */
export function castsOnce(step: Step): boolean {
  return castsOf(step).every(({ from, to }) => {
    if (!isHalf(to)) return true;
    return from !== DType.float64 && (to !== DType.bfloat16 || isFloat(from) || dtypeBytes(from) <= 2);
  });
}

const castsOf = ({ term, epilogue }: Step): { from: DTypeCode; to: DTypeCode }[] =>
  [...term.code, ...epilogue.code].flatMap(({ op, dtype: from, b }) =>
    op === Op.cast ? [{ from, to: b as DTypeCode }] : [],
  );

/** Returns whether a step totals limbs (other than float64's) that are read unchanged and always inside the tensor. */
export function isPlainTotal(step: Step): boolean {
  const { code, outA } = step.term;
  const radices = [...step.outDigits, ...step.redDigits];
  if (step.reduce !== Reduce.total || step.reduceType === DType.float64 || code.length > 0) return false;
  if (outA >= step.termReads.length || product(step.redDigits) >= MAX_TOTAL_TERMS) return false;
  return staysInside(step.termReads[outA]!, radices);
}

/**
 * Returns whether a step adds unmodified floats of up to 32 bits, or their products, through views whose offsets plain
 * numbers can hold.
 */
export function isPlainFloatSum(step: Step): boolean {
  const adds = step.reduce === Reduce.sum || isDot(step.reduce) || isPartial(step.reduce);
  if (!adds || !isFloat(step.reduceType!) || step.reduceType === DType.float64) return false;
  const { code, outA, outB } = step.term;
  const reads = step.termReads.length;
  if (code.length > 0 || outA >= reads || (isDot(step.reduce) && outB >= reads)) return false;
  const radices = [...step.outDigits, ...step.redDigits];
  return step.termReads.every((view) =>
    view.axes.every((axis) => {
      const [low, high] = axisRange(axis, (digit) => radices[digit]!);
      return axis.indirect === undefined && low > -MAX_OFFSET && high < MAX_OFFSET;
    }),
  );
}

/**
 * Returns whether a step's work is counted as if computed element by element, by the definition. The reasons: no loops
 * can be compiled for its types or reads, loops may leave any element of its types to the definition, or the step
 * handles words of exact sums differently from the compiler's steps.
 */
export function countsAsDefined(step: Step): boolean {
  if (!hasSettledTypes(step) || !isWithinReach(step)) return true;
  return isPartial(step.reduce) ? !isPlainPartial(step) : handlesLimbs(step);
}

/** Whether a step, no partial sum, has words of exact sums otherwise than as a plain total. */
export function handlesLimbs(step: Step): boolean {
  const isLimb = ({ dtype }: { dtype: DTypeCode }): boolean => dtype === DType.limb;
  const reads = ({ input }: View): boolean => isLimb(step.inputs[input]!);
  if (isLimb(step) || step.constants.some(isLimb) || step.epilogueReads.some(reads)) return true;
  return (isTotal(step.reduce) || step.termReads.some(reads)) && !isPlainTotal(step);
}

function isWithinReach({ outDigits, redDigits, termReads, epilogueReads }: Step): boolean {
  const radices = [...outDigits, ...redDigits];
  return [...termReads, ...epilogueReads].every(({ axes }) =>
    axes.every((axis) => {
      const [low, high] = axisRange(axis, (digit) => radices[digit]!);
      return low >= -REACH && high < REACH && axis.extent * axis.div < REACH;
    }),
  );
}

/** Whether the words of a sum have the same terms, which do not depend on the word's number, and are not altered. */
function isPlainPartial({ outDigits, termReads, epilogueReads, term, epilogue }: Step): boolean {
  const word = outDigits.length - 1;
  const reads = termReads.some(({ axes }) => axes.some(({ coeffs }) => coeffs.some(({ digit }) => digit === word)));
  const uses = term.code.some(({ op, a }) => op === Op.digit && a === word);
  return !reads && !uses && epilogue.out === epilogueReads.length;
}
