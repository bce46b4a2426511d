import { LIMBS } from "../../numerics/exactSum.ts";
import { WORDS_BYTES } from "../../numerics/kernels/exactWords.ts";
import { isDot } from "../../program/reduction.ts";
import { product } from "../../program/sums.ts";
import type { Step } from "../../program/types.ts";
import { splitDigits } from "../../program/view.ts";
import { neededDigits } from "../loops/slots.ts";
import type { Region } from "../memory/memoryPlan.ts";
import type { Machine } from "../machine.ts";
import { digitStrides } from "../splitStep.ts";
import type { StepPlan } from "./stepPlan.ts";
import { planGathered } from "./planGathered.ts";
import type { PlanResources } from "./planResources.ts";
import { termExpression } from "./productLayout.ts";

/**
 * Plans a step for writing the words of exact sums. The plan computes each sum once for all four words, and once for
 * all out digits on which no term depends: a split sum of words has such a digit.
 * @returns undefined if the terms depend on the word's number, or if the epilogue changes the words.
 */
export function planPartialSum(resources: PlanResources, step: Step, out: Region): StepPlan | undefined {
  const limbDigit = step.outDigits.length - 1;
  const radices = [...step.outDigits, ...step.redDigits];
  const slots = isDot(step.reduce) ? [step.term.outA, step.term.outB] : [step.term.outA];
  const needed = new Set(slots.flatMap((slot) => [...neededDigits(termExpression(step), slot, radices)]));
  if (needed.has(limbDigit) || step.epilogue.out !== step.epilogueReads.length) return undefined;
  const repeated = [...step.outDigits.keys()].filter((digit) => !needed.has(digit) && radices[digit]! > 1);
  const without = new Set([...repeated, limbDigit]);
  const kept = step.outDigits.map((radix, digit) => (without.has(digit) ? 1 : radix));
  const isRepeated = without.size > 1;
  const sums = isRepeated ? resources.scratch(product(kept) * WORDS_BYTES) : out;
  const plan = planGathered(resources, step, sums, {
    ...{ slots, without, sumBytes: WORDS_BYTES, mayShare: !isRepeated },
    add: ({ kernels, settleScratch }, a, b, bStep, terms, count, at) =>
      kernels.exactWords(a, b, bStep, terms, count, at, settleScratch),
  });
  if (!isRepeated) return plan;
  const strides = digitStrides(kept);
  const places = Uint32Array.from({ length: step.count / LIMBS }, (_, k) =>
    splitDigits(k, step.outDigits.slice(0, -1)).reduce(
      (place, value, digit) => place + (without.has(digit) ? 0 : value * strides[digit]!),
      0,
    ),
  );
  return { ...plan, bind };

  function bind(machine: Machine): () => void {
    const add = plan.bind(machine);
    const { bytes } = machine.views;
    return () => {
      add();
      places.forEach((place, k) => {
        const from = sums.address + place * WORDS_BYTES;
        bytes.copyWithin(out.address + k * WORDS_BYTES, from, from + WORDS_BYTES);
      });
    };
  }
}
