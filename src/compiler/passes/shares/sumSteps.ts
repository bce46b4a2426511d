import { DType, isFloat } from "../../../numerics/dtype.ts";
import { limbCount } from "../../../numerics/exactSum.ts";
import { Op } from "../../../program/operations.ts";
import { product } from "../../../program/sums.ts";
import { Reduce, type Step, type TensorRef, type View } from "../../../program/types.ts";
import { partialSumStep } from "../provable/splits.ts";
import { readsOf, type Parts } from "../provable/parts.ts";
import { byteSum, rowView } from "./byteSum.ts";
import { fixedSum, fromFixed } from "./fixedSum.ts";

/**
 * How shares give their sums. `exact`: words with every bit. `fixed`: int64, in units 2^-40, each term rounded first.
 * `rounded`: float32, rounded once. `bytes`: in units 1/127 times a tensor's greatest sum. The bits after a step depend
 * on the cut for `rounded` and `bytes`.
 */
export const SUM_FORMS = ["exact", "fixed", "rounded", "bytes"] as const;
export type SumForm = (typeof SUM_FORMS)[number];

/** A sum over a batch, cut into steps for two programs. */
export type SumSteps = {
  /** The sum over some of the examples. */
  parts: Parts;
  /** The parts given by a share. */
  given: readonly number[];
  /** Adds all shares' parts; `inputs` numbers the joining program's inputs, in the order in `given`. */
  join: (shares: number, inputs: readonly number[]) => Step;
};

/**
 * Cuts a sum over a batch. Sums with a single number, for example a loss, are exact in any form: NaN and Infinity stay
 * visible. Integers have a single form, floats except float32 only `exact` and `rounded`.
 * @param step The sum over a share's examples.
 * @param shares Shares in a batch; may be a fraction.
 */
export function cutSum(step: Step, form: SumForm, shares: number): SumSteps {
  const type = step.reduceType!;
  const bare = bareSum(step);
  if (!isFloat(type)) return { parts: [bare], given: [0], join: joined(step, 1) };
  if (form === "exact" || step.count === 1 || (form !== "rounded" && type !== DType.float32))
    return { parts: [partialSumStep(step)], given: [0], join: joined(step, limbCount(type)) };
  switch (form) {
    case "rounded":
      return { parts: [bare], given: [0], join: joined(step, 1) };
    case "fixed": {
      const fixed = fixedSum(bare, Math.ceil(shares * product(step.redDigits)));
      return { parts: [fixed], given: [0], join: joined({ ...step, ...fromFixed(step), reduceType: fixed.dtype }, 1) };
    }
    case "bytes":
      return { parts: byteSum(bare), given: [2, 1], join: joinedBytes(step) };
  }
}

/** Returns how all shares' sums are added. @param words In each sum; 1 for plain numbers. */
const joined =
  (step: Step, words: number): SumSteps["join"] =>
  (shares, [input]) => {
    const kept = readsOf(step.inputs, step.epilogueReads);
    const dtype = words > 1 ? DType.limb : step.reduceType!;
    const sums: TensorRef = { kind: "input", index: input!, dtype, count: shares * step.count * words };
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

/** Returns how all shares' bytes are added, each times the share's scale: exactly, rounded once. */
const joinedBytes =
  (step: Step): SumSteps["join"] =>
  (shares, [bytes, scales]) => {
    const plain = joined({ ...step, reduceType: DType.int8 }, 1)(shares, [bytes!]);
    const scale = rowView(plain.inputs.length, step.outDigits.length, shares);
    const cast = { op: Op.cast, dtype: DType.int8, a: 0, b: DType.float32, c: 0 };
    return {
      ...plain,
      inputs: [...plain.inputs, { kind: "input", index: scales!, dtype: DType.float32, count: shares }],
      ...{ reduce: Reduce.dot, reduceType: DType.float32, termReads: [...plain.termReads, scale] },
      term: { code: [cast], outA: 2 + step.constants.length, outB: 1 },
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
