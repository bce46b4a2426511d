import { isFloat } from "../../../numerics/dtype.ts";
import { limbCount } from "../../../numerics/exactSum.ts";
import { product } from "../../../program/sums.ts";
import { Reduce, type Step, type TensorRef, type View } from "../../../program/types.ts";
import { partialSumStep } from "../provable/splits.ts";
import { readsOf } from "../provable/parts.ts";

/** A sum over a batch, cut into steps for two programs. */
export type SumSteps = {
  /** The sum over some of the examples. */
  share: Step;
  /** Adds the sums from all shares; `input` is the number of the joining program's input. */
  join: (shares: number, input: number) => Step;
};

/**
 * Cuts a sum over a batch.
 * @param step The sum over the examples of a share.
 * @param rounded Whether a share rounds its sum. Otherwise the share gives the exact sum's words. Integers have one
 *   form.
 */
export function cutSum(step: Step, rounded: boolean): SumSteps {
  const type = step.reduceType!;
  const words = isFloat(type) && !rounded ? limbCount(type) : 1;
  const share = words > 1 ? partialSumStep(step) : bareSum(step);
  const join = (shares: number, input: number): Step => {
    const kept = readsOf(step.inputs, step.epilogueReads);
    const sums: TensorRef = { kind: "input", index: input, dtype: share.dtype, count: shares * share.count };
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
  return { share, join };
}

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
