import { DType, isFloat } from "../numerics/dtype.ts";
import { LIMBS } from "../numerics/exactSum.ts";
import { ProgramFormatError } from "../program/errors.ts";
import { estimateStepProofGas } from "../program/gas.ts";
import { isDot } from "../program/reduction.ts";
import { Reduce, type Step, type TensorRef, type View } from "../program/types.ts";
import { validateStep } from "../program/validate.ts";
import { blockTerms, type Cut } from "./blockTerms.ts";

/** Joining a block takes some 9,000 gas: more than these never fit a proof. */
const MOST_BLOCKS = 4096;
/** Block counts that do not divide a digit are tried in steps of a tenth. */
const GROWTH = 1.1;

const product = (radices: readonly number[]): number => radices.reduce((total, radix) => total * radix, 1);

/**
 * Splits every reduction whose proof would cost more than `limit` in two steps, if both then cost less: one reduces blocks of the terms,
 * the next joins the blocks and has the epilogue. Sums of float32 pass on exact words, so that no bit changes. Reductions that
 * give a position stay as they are.
 * @returns the steps renumbered, and for each old number the new one
 */
export function splitReductions(
  steps: readonly Step[],
  limit: number,
): { steps: Step[]; renumber: number[]; origin: number[] } {
  const result: Step[] = [];
  const renumber: number[] = [];
  const origin: number[] = [];
  steps.forEach((old, s) => {
    const inputs = old.inputs.map((ref) => (ref.kind === "step" ? { ...ref, index: renumber[ref.index]! } : ref));
    const step = { ...old, inputs };
    const pair = estimateStepProofGas(step) > limit ? cheapestSplit(step, limit, result.length) : undefined;
    for (const part of pair ?? [step]) {
      result.push(part);
      origin.push(s);
    }
    renumber.push(result.length - 1);
  });
  return { steps: result, renumber, origin };
}

/** The split whose dearer proof is the cheapest; blocks that divide the digits are preferred. */
function cheapestSplit(step: Step, limit: number, index: number): [Step, Step] | undefined {
  const { reduce } = step;
  const splits = reduce === Reduce.sum || isDot(reduce) || reduce === Reduce.max || reduce === Reduce.min;
  if (!splits || step.reduceType === DType.limb) return undefined;
  for (const cuts of [cutsOf(step, divisors), cutsOf(step, growing)]) {
    let best: { pair: [Step, Step]; gas: number } | undefined;
    for (const cut of cuts) {
      const pair = splitAt(step, cut, index);
      if (pair === undefined) continue;
      const gas = Math.max(...pair.map(estimateStepProofGas));
      if (gas <= limit && (best === undefined || gas < best.gas)) best = { pair, gas };
    }
    if (best !== undefined) return best.pair;
  }
  return undefined;
}

function cutsOf(step: Step, blockCounts: (radix: number) => number[]): Cut[] {
  const before = (digit: number): number => product(step.redDigits.slice(0, digit));
  return step.redDigits
    .flatMap((radix, digit) =>
      blockCounts(radix).map((blocks): Cut => {
        const length = Math.ceil(radix / blocks);
        return { digit, blocks: Math.ceil(radix / length), length };
      }),
    )
    .filter(({ digit, blocks }) => before(digit) * blocks > 1 && before(digit) * blocks <= MOST_BLOCKS);
}

function divisors(radix: number): number[] {
  const low: number[] = [];
  for (let d = 1; d * d <= radix; d++) if (radix % d === 0) low.push(d);
  return [...new Set([...low, ...low.map((d) => radix / d)])];
}

function growing(radix: number): number[] {
  const counts: number[] = [];
  for (let blocks = 2; blocks < radix && blocks <= MOST_BLOCKS; blocks = Math.ceil(blocks * GROWTH))
    counts.push(blocks);
  return counts;
}

/** Both steps, the first one number `index`; undefined if one does not fit the encoding. */
function splitAt(step: Step, cut: Cut, index: number): [Step, Step] | undefined {
  const adds = isFloat(step.reduceType!) && step.reduce !== Reduce.max && step.reduce !== Reduce.min;
  const exact = adds && step.reduceType === DType.float32;
  // Only sums of float32 have limbs; rounded partial sums would not give the exact one.
  if (adds && !exact) return undefined;
  const words = exact ? [LIMBS] : [];
  const terms = blockTerms(step, cut, words.length);
  if (terms === undefined) return undefined;
  const blocks = product(terms.blockDigits);
  const outDigits = [...step.outDigits, ...terms.blockDigits, ...words];
  const dtype = exact ? DType.limb : step.reduceType!;
  const { term, constants, redDigits } = terms;
  const read = readsOf(step.inputs, terms.termReads);
  const first: Step = {
    dtype,
    count: product(outDigits),
    inputs: read.inputs,
    outDigits,
    redDigits,
    reduce: exact ? (isDot(step.reduce) ? Reduce.partialDot : Reduce.partialSum) : step.reduce,
    reduceType: step.reduceType!,
    constants,
    termReads: read.views,
    epilogueReads: [],
    term,
    epilogue: { code: [], out: 0 },
  };

  const joins = [blocks, ...words];
  const kept = readsOf(step.inputs, step.epilogueReads);
  const whole: View = { input: kept.inputs.length, fill: 0n, axes: [rowMajorAxis([...step.outDigits, ...joins])] };
  const second: Step = {
    ...step,
    inputs: [...kept.inputs, { kind: "step", index, dtype, count: first.count }],
    redDigits: joins,
    reduce: exact ? Reduce.total : step.reduce === Reduce.dot ? Reduce.sum : step.reduce,
    reduceType: dtype,
    termReads: [whole],
    epilogueReads: kept.views,
    term: { code: [], outA: 0, outB: 0 },
  };
  return [first, second].every(isEncodable) ? [first, second] : undefined;
}

/** Those inputs that some views read, and the views renumbered. */
function readsOf(inputs: readonly TensorRef[], views: readonly View[]): { inputs: TensorRef[]; views: View[] } {
  const used = [...new Set(views.map((view) => view.input))].sort((a, b) => a - b);
  return {
    inputs: used.map((input) => inputs[input]!),
    views: views.map((view) => ({ ...view, input: used.indexOf(view.input) })),
  };
}

function rowMajorAxis(radices: readonly number[]): View["axes"][number] {
  const coeffs = radices.map((_, digit) => ({ digit, coeff: product(radices.slice(digit + 1)) }));
  return { extent: product(radices), stride: 1, base: 0, div: 1, coeffs };
}

function isEncodable(step: Step): boolean {
  const views = [...step.termReads, ...step.epilogueReads];
  const fits = views.every(({ axes }) => axes.every(({ coeffs }) => coeffs.every(({ coeff }) => coeff < 2 ** 31)));
  try {
    validateStep(step);
    return fits;
  } catch (error) {
    if (error instanceof ProgramFormatError) return false;
    throw error;
  }
}
