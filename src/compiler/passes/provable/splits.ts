import { DType, isFloat, type DType as DTypeCode } from "../../../numerics/dtype.ts";
import { Op } from "../../../program/operations.ts";
import { isDot, isPartial, isTotal, limbsOf } from "../../../program/reduction.ts";
import { product } from "../../../program/sums.ts";
import {
  Reduce,
  type Constant,
  type Instruction,
  type Step,
  type TensorRef,
  type View,
} from "../../../program/types.ts";
import { blockTerms, type BlockTerms } from "./blockTerms.ts";
import { cutsOf, type Cut } from "./cuts.ts";
import { readsOf, sibling, wholeView, type Parts } from "./parts.ts";

/** The ways to split a step's reduction in blocks, each with the steps that result; none for what cannot be split. */
export function splitsOf(step: Step): { cut: Cut; parts: () => Parts }[] {
  const form = formOf(step);
  if (form === undefined) return [];
  // The highest of equal terms is searched: fillers come first, so that they lose ties.
  const front = step.reduce === Reduce.argmaxLast || step.reduce === Reduce.argminLast;
  return cutsOf(step, front).map((cut) => ({ cut, parts: () => form(step, cut) }));
}

type Form = (step: Step, cut: Cut) => Parts;

function formOf({ reduce, reduceType }: Step): Form | undefined {
  switch (reduce) {
    case Reduce.none:
      return undefined;
    case Reduce.sum:
    case Reduce.dot:
      return isFloat(reduceType!) ? exactSum : joined;
    case Reduce.max:
    case Reduce.min:
      return joined;
    case Reduce.last:
      return lastMatch;
    case Reduce.argmax:
    case Reduce.argmin:
    case Reduce.argmaxLast:
    case Reduce.argminLast:
      return position;
    default:
      return exactSum;
  }
}

/** Returns a step that reduces each block; by default the epilogue returns the result unchanged. */
function blockStep(
  step: Step,
  terms: BlockTerms,
  further: readonly number[],
  made: Pick<Step, "dtype" | "reduce"> & { reduceType?: DTypeCode; epilogue?: Step["epilogue"] },
): Step {
  const outDigits = [...step.outDigits, ...terms.blockDigits, ...further];
  const { inputs, views } = readsOf(step.inputs, terms.termReads);
  return {
    dtype: made.dtype,
    count: product(outDigits),
    inputs,
    outDigits,
    redDigits: terms.redDigits,
    reduce: made.reduce,
    reduceType: made.reduceType ?? step.reduceType!,
    constants: terms.constants,
    termReads: views,
    epilogueReads: [],
    term: terms.term,
    epilogue: made.epilogue ?? { code: [], out: 0 },
  };
}

/**
 * Returns the step that reduces the blocks' results: `parts` are tensors over all outputs and blocks, read in order.
 */
function join(step: Step, reduce: Reduce, reduceType: DTypeCode, parts: readonly TensorRef[], blocks: number): Step {
  const kept = readsOf(step.inputs, step.epilogueReads);
  const digits = [...step.outDigits, blocks];
  return {
    ...step,
    inputs: [...kept.inputs, ...parts],
    redDigits: [blocks],
    reduce,
    reduceType,
    termReads: parts.map((_, k) => wholeView(kept.inputs.length + k, digits)),
    epilogueReads: kept.views,
    term: { code: [], outA: 0, outB: Math.max(0, parts.length - 1) },
  };
}

/** Sums floats, or the limbs of float sums: limbs are passed on, and rounding comes once, at the end. */
const exactSum: Form = (step, cut) => {
  const limbs = limbsOf(step);
  const terms = blockTerms(step, cut, 1);
  const made = isTotal(step.reduce)
    ? { reduce: Reduce.partialTotal, reduceType: DType.limb }
    : { reduce: isDot(step.reduce) ? Reduce.partialDot : Reduce.partialSum };
  const first = blockStep(step, terms, [limbs], { dtype: DType.limb, ...made });
  const count = product(terms.blockDigits) * limbs;
  const parts = [sibling(0, first)];
  if (isPartial(step.reduce) || step.reduce === Reduce.partialTotal)
    return [first, join(step, Reduce.partialTotal, DType.limb, parts, count)];
  return [first, join(step, Reduce.total, step.reduceType!, parts, count)];
};

/** Returns a step giving a float sum's words instead of the sum, without the epilogue. */
export function partialSumStep(step: Step): Step {
  const whole = { digit: 0, blocks: 1, length: step.redDigits[0]!, front: false };
  const reduce = isDot(step.reduce) ? Reduce.partialDot : Reduce.partialSum;
  return blockStep(step, blockTerms(step, whole, 1), [limbsOf(step)], { dtype: DType.limb, reduce });
}

/** Integer sums, maxima and minima: those of the blocks' own. */
const joined: Form = (step, cut) => {
  const terms = blockTerms(step, cut, 0);
  const first = blockStep(step, terms, [], { dtype: step.reduceType!, reduce: step.reduce });
  const reduce = step.reduce === Reduce.dot ? Reduce.sum : step.reduce;
  return [first, join(step, reduce, step.reduceType!, [sibling(0, first)], product(terms.blockDigits))];
};

/** The last match: for each block, a flag for a match and the match's value; then the last block with a match. */
const lastMatch: Form = (step, cut) => {
  const terms = blockTerms(step, cut, 0);
  const value = blockStep(step, terms, [], { dtype: step.reduceType!, reduce: step.reduce });
  const epilogue = { code: [], out: 1 };
  const found = blockStep(step, terms, [], { dtype: DType.bool, reduce: step.reduce, epilogue });
  const parts = [sibling(0, found), sibling(1, value)];
  return [found, value, join(step, step.reduce, step.reduceType!, parts, product(terms.blockDigits))];
};

/**
 * A position: for each block the winner's value and the winner's position among all terms; then the winning block; then
 * the position of that block's winner.
 */
const position: Form = (step, cut) => {
  const greatest = step.reduce === Reduce.argmax || step.reduce === Reduce.argmaxLast;
  const terms = blockTerms(step, cut, 0);
  const best = blockStep(step, terms, [], { dtype: step.reduceType!, reduce: greatest ? Reduce.max : Reduce.min });
  const { constants, epilogue } = wholePosition(step, cut);
  const located = blockTerms(step, cut, 0, constants);
  const where = blockStep(step, located, [], { dtype: DType.int64, reduce: step.reduce, epilogue: epilogue(located) });
  const blocks = product(terms.blockDigits);
  const bare: Step = { ...step, dtype: DType.int64, constants: [], epilogueReads: [], epilogue: { code: [], out: 0 } };
  const block = join(bare, step.reduce, step.reduceType!, [sibling(0, best)], blocks);
  const winner = winnerOf(step, blocks, sibling(2, block), sibling(1, where));
  return [best, where, block, winner, ...epilogueOf(step, sibling(3, winner))];
};

/**
 * Returns constants and an epilogue that turn a winner's position in a block into the position among all terms: they
 * add a function of the block's digits.
 */
function wholePosition(
  { redDigits, constants: own, outDigits }: Step,
  cut: Cut,
): { constants: Constant[]; epilogue: (terms: BlockTerms) => Step["epilogue"] } {
  const { int64 } = DType;
  const after = product(redDigits.slice(cut.digit + 1));
  const weights = redDigits.slice(0, cut.digit).map((_, k) => product(redDigits.slice(k + 1)));
  if (cut.blocks > 1) weights.push(cut.length * after);
  const base = cut.front ? (redDigits[cut.digit]! - cut.blocks * cut.length) * after : 0;
  const constants = [...weights, base].map((value): Constant => ({ dtype: int64, value: BigInt(value) }));
  const epilogue = (terms: BlockTerms): Step["epilogue"] => {
    const first = 1 + own.length;
    const code: Instruction[] = [];
    const push = (op: Instruction["op"], a: number, b: number): number =>
      terms.constants.length + code.push({ op, dtype: int64, a, b, c: 0 });
    let sum = push(Op.add, 0, first + weights.length);
    weights.forEach((_, k) => {
      const digit = push(Op.digit, outDigits.length + k, 0);
      sum = push(Op.add, sum, push(Op.mul, digit, first + k));
    });
    return { code, out: sum };
  };
  return { constants, epilogue };
}

/** The positions of the winning blocks' winners. */
function winnerOf(step: Step, blocks: number, block: TensorRef, where: TensorRef): Step {
  const { outDigits, count } = step;
  const own = wholeView(0, outDigits);
  const [row] = own.axes;
  const coeffs = row!.coeffs;
  const axes = [
    { extent: count, stride: blocks, base: 0, div: 1, coeffs },
    { extent: blocks, stride: 1, base: 0, div: 1, coeffs: [], indirect: 0 },
  ];
  return {
    dtype: DType.int64,
    count,
    inputs: [block, where],
    outDigits,
    redDigits: [],
    reduce: Reduce.none,
    constants: [],
    termReads: [],
    epilogueReads: [own, { input: 1, fill: 0n, axes }],
    term: { code: [], outA: 0, outB: 0 },
    epilogue: { code: [], out: 1 },
  };
}

/** Returns a step's epilogue over a tensor of accumulators; no step if the epilogue changes nothing. */
function epilogueOf(step: Step, accumulator: TensorRef): Step[] {
  const reads = step.epilogueReads.length;
  if (step.epilogue.code.length === 0 && step.epilogue.out === reads) return [];
  const kept = readsOf(step.inputs, step.epilogueReads);
  const { dtype, count, outDigits, constants, epilogue } = step;
  const views: View[] = [...kept.views, wholeView(kept.inputs.length, outDigits)];
  return [
    {
      dtype,
      count,
      outDigits,
      constants,
      epilogue,
      inputs: [...kept.inputs, accumulator],
      redDigits: [],
      reduce: Reduce.none,
      termReads: [],
      epilogueReads: views,
      term: { code: [], outA: 0, outB: 0 },
    },
  ];
}
