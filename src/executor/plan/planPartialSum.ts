import { WORDS_BYTES } from "../../numerics/kernels/exactWords.ts";
import { isDot } from "../../program/reduction.ts";
import type { Step } from "../../program/types.ts";
import type { LoopDigit } from "../loops/spec.ts";
import { neededDigits } from "../loops/slots.ts";
import type { Region } from "../memory/memoryPlan.ts";
import { planFactor } from "./planFactor.ts";
import type { StepPlan } from "./stepPlan.ts";
import { ranges } from "./ranges.ts";
import type { PlanResources } from "./planResources.ts";
import { both } from "./planFloatProduct.ts";
import { termExpression } from "./productLayout.ts";

const FLOAT32_BYTES = 4;
const ONE_BITS = 0x3f800000;

/**
 * Plans a step for writing the words of exact sums. The plan computes each sum once for all four words.
 * @returns undefined if the terms depend on the word's number, or if the epilogue changes the words.
 */
export function planPartialSum(resources: PlanResources, step: Step, out: Region): StepPlan | undefined {
  const limbDigit = step.outDigits.length - 1;
  const radices = [...step.outDigits, ...step.redDigits];
  const results = isDot(step.reduce) ? [step.term.outA, step.term.outB] : [step.term.outA];
  const depends = results.some((slot) => neededDigits(termExpression(step), slot, radices).has(limbDigit));
  if (depends || step.epilogue.out !== step.epilogueReads.length) return undefined;

  const digits = radices
    .map((radix, digit): LoopDigit => ({ digit, radix }))
    .filter(({ digit }) => digit !== limbDigit);
  const firstRadix = digits[0]!.radix;
  const terms = step.redDigits.reduce((product, radix) => product * radix, 1);
  const perValue = digits.reduce((product, { radix }) => product * radix, 1) / firstRadix;
  // If the digit of words is the only out digit, the first digit belongs to the terms and is not cut.
  const isCut = limbDigit > 0;
  const max = Math.max(1, Math.floor(resources.options.chunkElements / perValue));
  const length = isCut ? Math.min(firstRadix, max) : firstRadix;
  const factors = results.map((slot) => planFactor(resources, step, slot, digits, { isWidened: false }));
  const pieces = factors.map((factor) => resources.scratch(length * factor.bytesPerValue));
  const one = factors.length === 1 ? resources.scratch(FLOAT32_BYTES) : undefined;
  return {
    shared: false,
    prepare: factors.map(({ prepare }) => prepare).reduce(both),
    bind(machine) {
      const { views, clock, kernels, settleScratch } = machine;
      const gathers = factors.map((factor) => factor.bind(machine));
      return () => {
        if (one !== undefined) views.uint32(one.address, 1)[0] = ONE_BITS;
        let at = out.address;
        for (const [start, end] of ranges(0, firstRadix, length)) {
          gathers.forEach((gather, n) => gather(pieces[n]!.address, start, end));
          clock.enter("products");
          const [a, b] = factors.map(({ region, bytesPerValue }, n) =>
            region === undefined ? pieces[n]!.address : region.address + start * bytesPerValue,
          );
          const count = ((end - start) * perValue) / terms;
          kernels.exactWords(
            a!,
            b ?? one!.address,
            b === undefined ? 0 : FLOAT32_BYTES,
            terms,
            count,
            at,
            settleScratch,
          );
          at += count * WORDS_BYTES;
        }
      };
    },
  };
}
