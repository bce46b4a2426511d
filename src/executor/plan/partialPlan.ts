import { DType } from "../../numerics/dtype.ts";
import { LIMBS } from "../../numerics/exactSum.ts";
import { isDot } from "../../program/reduction.ts";
import { Reduce, type Step } from "../../program/types.ts";
import { allocate } from "../arrays.ts";
import { digitsOf } from "../loops/slots.ts";
import { SUM_LANES } from "../product/partialProduct.ts";
import { digitStrides } from "../splitStep.ts";
import type { StepPlan } from "./plan.ts";
import { termExpression } from "./productLayout.ts";
import { productPlan } from "./productPlan.ts";

/**
 * A step that writes the words of exact sums: each sum is computed once for its four words.
 * @returns undefined if the terms depend on which word it is, or if the epilogue does anything but hand the words on.
 */
export function partialPlan(step: Step): StepPlan | undefined {
  const limbDigit = step.outDigits.length - 1;
  const radices = [...step.outDigits, ...step.redDigits];
  const results = isDot(step.reduce) ? [step.term.outA, step.term.outB] : [step.term.outA];
  const depends = results.some((slot) => digitsOf(termExpression(step), slot, radices).has(limbDigit));
  if (depends || step.epilogue.out !== step.epilogueReads.length) return undefined;

  // The same sums, each once: the digit that numbers words has one value.
  const outDigits = [...step.outDigits.slice(0, -1), 1];
  const count = step.count / LIMBS;
  const reduce = isDot(step.reduce) ? Reduce.dot : Reduce.sum;
  const sums = productPlan({ ...step, outDigits, count, reduce }, true);
  return async (sources, context) => {
    const [words] = (await sums.run(sources, context)) as [BigUint64Array];
    const rowMajor = digitStrides(outDigits);
    if (outDigits.every((radix, digit) => radix === 1 || sums.strides[digit] === rowMajor[digit])) return words;
    const out = allocate(DType.limb, step.count) as BigUint64Array;
    for (let i = 0; i < count; i++) {
      const from = outDigits.reduce(
        (at, radix, digit) => at + (Math.floor(i / rowMajor[digit]!) % radix) * sums.strides[digit]!,
        0,
      );
      out.set(words.subarray(from * SUM_LANES, (from + 1) * SUM_LANES), i * SUM_LANES);
    }
    return out;
  };
}
