import { DType, isFloat } from "../../../numerics/dtype.ts";
import { limbCount } from "../../../numerics/exactSum.ts";
import { Op } from "../../../program/operations.ts";
import { product } from "../../../program/sums.ts";
import { Reduce, type Step, type TensorRef, type View } from "../../../program/types.ts";
import { SharesError } from "../../errors.ts";
import { partialSumStep } from "../provable/splits.ts";
import { readsOf, type Parts } from "../provable/parts.ts";
import { byteSum, rowView } from "./byteSum.ts";
import { joinedDense, withFeedback } from "./feedback.ts";
import { fixedSum, fromFixed } from "./fixedSum.ts";
import { joinSigns, signSum } from "./signSum.ts";
import { groupedCount, joinTops, MAX_GROUP, topSum } from "./topSum.ts";

/**
 * How shares give their sums. `exact`: words with every bit. `fixed`: int64, in units 2^-40, each term rounded first.
 * `rounded`: float32, rounded once. `bytes`: in units 1/127 times a tensor's greatest sum. `signs`: a bit, times the
 * tensor's mean size. `top=K`: in each group of K neighbours, the greatest alone. The bits after a step depend on the
 * cut for all forms except `exact` and `fixed`. With `signs` and `top=K` each share has a feedback: what earlier steps
 * of the share did not send is added to the share's sums before they are rounded.
 */
export const SUM_FORMS = ["exact", "fixed", "rounded", "bytes", "signs"] as const;
export type SumForm = (typeof SUM_FORMS)[number] | `top=${number}`;

/** The names of the forms, for messages. */
export const FORM_NAMES = [...SUM_FORMS, `top=K with K from 2 to ${MAX_GROUP}`];

/** `signs`, or another form, or `top=16`. @returns undefined for any other text */
export function parseForm(text: string): SumForm | undefined {
  const group = groupOf(text);
  if (group !== undefined) return group >= 2 && group <= MAX_GROUP ? `top=${group}` : undefined;
  return SUM_FORMS.find((form) => form === text);
}

/** The K in `top=K`; undefined for other forms. */
function groupOf(form: string): number | undefined {
  const [, digits] = /^top=([1-9]\d{0,2})$/.exec(form) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** A sum over a batch, cut into steps for two programs. */
export type SumSteps = {
  /** The sum over some of the examples. */
  parts: Parts;
  /** The parts given by a share. */
  given: readonly number[];
  /** The part with the feedback for the share's next step; absent for forms without feedback. */
  feedback?: number;
  /** Adds all shares' parts; `inputs` numbers the joining program's inputs, in the order in `given`. */
  join: (shares: number, inputs: readonly number[]) => Parts;
};

/**
 * Cuts a sum over a batch. Sums with a single number, for example a loss, are exact in any form: NaN and Infinity stay
 * visible. Integers have a single form, floats except float32 only `exact` and `rounded`.
 * @param step The sum over a share's examples.
 * @param shares Shares in a batch; may be a fraction.
 * @param input The number of the share's next input, for a feedback.
 * @throws SharesError for a form that `parseForm` refuses
 */
export function cutSum(step: Step, form: SumForm, shares: number, input: number): SumSteps {
  if (parseForm(form) === undefined)
    throw new SharesError(`sums ${JSON.stringify(form)}: expected ${FORM_NAMES.join(", ")}`);
  const type = step.reduceType!;
  const bare = bareSum(step);
  if (!isFloat(type)) return { parts: [bare], given: [0], join: joined(step, 1) };
  if (form === "exact" || step.count === 1 || (form !== "rounded" && type !== DType.float32))
    return { parts: [partialSumStep(step)], given: [0], join: joined(step, limbCount(type)) };
  switch (form) {
    case "signs": {
      const parts = signSum(withFeedback(bare, input, step.count));
      return { parts, given: [2, 1], feedback: 3, join: joinedDense(step, joinSigns(step.count)) };
    }
    case "bytes":
      return { parts: byteSum(bare), given: [2, 1], join: joinedBytes(step) };
    case "rounded":
      return { parts: [bare], given: [0], join: joined(step, 1) };
    case "fixed": {
      const fixed = fixedSum(bare, Math.ceil(shares * product(step.redDigits)));
      return { parts: [fixed], given: [0], join: joined({ ...step, ...fromFixed(step), reduceType: fixed.dtype }, 1) };
    }
    default: {
      const most = groupOf(form)!;
      const parts = topSum(withFeedback(bare, input, groupedCount(step.count, most)), most);
      return { parts, given: [2, 1], feedback: 3, join: joinedDense(step, joinTops(step.count, most)) };
    }
  }
}

/** Returns how all shares' sums are added. @param words In each sum; 1 for plain numbers. */
const joined =
  (step: Step, words: number): SumSteps["join"] =>
  (shares, [input]) => [joinedWords(step, words, shares, input!)];

function joinedWords(step: Step, words: number, shares: number, index: number): Step {
  const kept = readsOf(step.inputs, step.epilogueReads);
  const dtype = words > 1 ? DType.limb : step.reduceType!;
  const sums: TensorRef = { kind: "input", index, dtype, count: shares * step.count * words };
  return {
    ...step,
    inputs: [...kept.inputs, sums],
    redDigits: words > 1 ? [shares, words] : [shares],
    reduce: words > 1 ? Reduce.total : Reduce.sum,
    termReads: [sharesView(kept.inputs.length, step.outDigits, shares, words)],
    epilogueReads: kept.views,
    term: { code: [], outA: 0, outB: 0 },
  };
}

/** Returns how all shares' bytes are added, each times the share's scale: exactly, rounded once. */
const joinedBytes =
  (step: Step): SumSteps["join"] =>
  (shares, [bytes, scales]) => {
    const plain = joinedWords({ ...step, reduceType: DType.int8 }, 1, shares, bytes!);
    const scale = rowView(plain.inputs.length, step.outDigits.length, shares);
    const cast = { op: Op.cast, dtype: DType.int8, a: 0, b: DType.float32, c: 0 };
    const scaled = {
      ...plain,
      inputs: [...plain.inputs, { kind: "input" as const, index: scales!, dtype: DType.float32, count: shares }],
      ...{ reduce: Reduce.dot, reduceType: DType.float32, termReads: [...plain.termReads, scale] },
      term: { code: [cast], outA: 2 + step.constants.length, outB: 1 },
    };
    return [scaled];
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
