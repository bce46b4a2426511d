import { DType, isFloat } from "../../../numerics/dtype.ts";
import { limbCount } from "../../../numerics/exactSum.ts";
import { product } from "../../../program/sums.ts";
import { Reduce, type Step, type TensorRef, type View } from "../../../program/types.ts";
import { partialSumStep } from "../provable/splits.ts";
import { readsOf } from "../provable/parts.ts";
import { fixedSum, fromFixed } from "./fixedSum.ts";

/**
 * How shares give their sums. `exact`: words that hold every bit. `fixed`: int64 numbers of units of 2^-40, to which
 * each term is rounded. `rounded`: each share's sum rounded once, so that the bits depend on the cut.
 */
export const SUM_FORMS = ["exact", "fixed", "rounded"] as const;
export type SumForm = (typeof SUM_FORMS)[number];

/** A sum over a batch, cut into steps for two programs. */
export type SumSteps = {
  /** The sum over some of the examples. */
  share: Step;
  /** Adds the sums from all shares; `input` is the number of the joining program's input. */
  join: (shares: number, input: number) => Step;
};

/**
 * Cuts a sum over a batch. A sum of a single number, such as a loss, is exact in any form: so the number shows NaN and
 * Infinity. Integers have one form, and floats other than float32 none that is fixed.
 * @param step The sum over the examples of a share.
 * @param shares The number of such shares in a batch; need not be whole.
 */
export function cutSum(step: Step, form: SumForm, shares: number): SumSteps {
  const type = step.reduceType!;
  const isExact = form === "exact" || step.count === 1 || (form === "fixed" && type !== DType.float32);
  if (isFloat(type) && isExact) return { share: partialSumStep(step), join: joined(step, limbCount(type)) };
  const bare = bareSum(step);
  if (form === "rounded" || !isFloat(type)) return { share: bare, join: joined(step, 1) };
  const share = fixedSum(bare, Math.ceil(shares * product(step.redDigits)));
  const join = joined({ ...step, ...fromFixed(step), reduceType: share.reduceType! }, 1);
  return { share, join };
}

/** Returns how the sums of all shares are added. @param words Of each sum; 1 for plain numbers. */
const joined =
  (step: Step, words: number): SumSteps["join"] =>
  (shares, input) => {
    const kept = readsOf(step.inputs, step.epilogueReads);
    const [dtype, count] = words > 1 ? [DType.limb, shares * step.count * words] : [step.reduceType!, shares * step.count];
    const sums: TensorRef = { kind: "input", index: input, dtype, count };
    return {
      ...step,
      inputs: [...kept.inputs, sums],
      redDigits: words > 1 ? [shares, words] : [shares],
      reduce: words > 1 ? Reduce.total : Reduce.sum,
      termReads: [sharesView(kept.inputs.length, step.outDigits, shares, words)],
      epilogueReads: kept.views,
      term: { code: [], outA: 0, outB: 0 },
    };
  };

/** The sum without what follows. */
function bareSum(step: Step): Step {
  const { inputs, views } = readsOf(step.inputs, step.termReads);
  const epilogue = { code: [], out: 0 };
  return { ...step, dtype: step.reduceType!, inputs, termReads: views, epilogueReads: [], epilogue };
}

/** Reads the sums of all shares, share after share; within a share, the words of an element stand together. */
function sharesView(input: number, outDigits: readonly number[], shares: number, words: number): View {
  const count = product(outDigits);
  const own = outDigits.map((_, digit) => ({ digit, coeff: words * product(outDigits.slice(digit + 1)) }));
  const further = [count * words, 1].slice(0, words > 1 ? 2 : 1);
  const coeffs = [...own, ...further.map((coeff, k) => ({ digit: outDigits.length + k, coeff }))];
  const axis = { extent: shares * count * words, stride: 1, base: 0, div: 1, coeffs };
  return { input, fill: 0n, axes: [axis] };
}
