import { DType, dtypeBytes } from "../../numerics/dtype.ts";
import { accumulatorTypes } from "../../program/reduction.ts";
import type { Step } from "../../program/types.ts";
import type { TensorArray } from "../arrays.ts";
import type { LoopDigit } from "../loops/spec.ts";
import type { Region } from "../memory/memoryPlan.ts";
import { digitStrides } from "../splitStep.ts";
import { planEpilogue } from "./epilogue.ts";
import { planFactor, type Factor } from "./factor.ts";
import { ranges, type Machine, type Operation, type StepPlan } from "./plan.ts";
import type { Planner } from "./planner.ts";
import { both } from "./productPlan.ts";

/** Folds gathered terms: `factors` are those of a piece, `outs` receive its accumulators from element `start`. */
export type Fold = (factors: readonly TensorArray[], outs: readonly TensorArray[], start: number) => void;

/**
 * Reductions whose terms are gathered and folded by plain code: one element of the first digit after the other, as many at a time as the
 * options allow.
 * @param slots The results of the term that are gathered, each for all out digits and all reduction digits.
 */
export function arrayPlan(
  planner: Planner,
  step: Step,
  slots: readonly { slot: number; dtype: DType }[],
  out: Region,
  fold: Fold,
): StepPlan {
  const radices = [...step.outDigits, ...step.redDigits];
  const digits = radices.map((radix, digit): LoopDigit => ({ digit, radix }));
  const firstRadix = radices[0]!;
  const inner = step.redDigits.reduce((product, radix) => product * radix, 1);
  const perValue = (step.count / firstRadix) * inner;
  const length = Math.max(1, Math.min(firstRadix, Math.floor(planner.options.chunkElements / perValue)));
  const factors = slots.map(({ slot, dtype }): Factor =>
    planFactor(planner, { ...step, reduceType: dtype }, slot, digits, { isWidened: false }),
  );
  const pieces = factors.map((factor) => planner.scratch(length * factor.bytesPerValue));
  const types = accumulatorTypes(step);
  const accumulators = types.map((dtype) => planner.scratch(step.count * dtypeBytes(dtype)));
  const outDigits = digits.slice(0, step.outDigits.length);
  const epilogue = planEpilogue(planner, step, digitStrides(step.outDigits), outDigits, out);
  return { shared: false, prepare: factors.map(({ prepare }) => prepare).reduce(both), bind };

  function bind(machine: Machine): Operation {
    const { views, clock } = machine;
    const gathers = factors.map((factor) => factor.bind(machine));
    const finish = epilogue.bind(machine);
    const outs = types.map((dtype, n) => views.elements(accumulators[n]!.address, dtype, step.count));
    const parts = [...ranges(0, firstRadix, length)].map(([start, end]) => ({
      start,
      end,
      terms: slots.map(({ dtype }, n) => {
        const { region, bytesPerValue } = factors[n]!;
        const address = region === undefined ? pieces[n]!.address : region.address + start * bytesPerValue;
        return views.elements(address, dtype, (end - start) * perValue);
      }),
    }));
    return () => {
      for (const { address, bytes } of accumulators) views.bytes.fill(0, address, address + bytes);
      for (const { start, end, terms } of parts) {
        gathers.forEach((gather, n) => gather(pieces[n]!.address, start, end));
        clock.enter("loops");
        fold(terms, outs, (start * perValue) / inner);
      }
      finish(
        accumulators.map(({ address }) => address),
        0,
        firstRadix,
      );
    };
  }
}
