import { accumulatorTypes } from "../../program/reduction.ts";
import type { Step } from "../../program/types.ts";
import type { LoopDigit, LoopSpec } from "../loops/spec.ts";
import type { Region } from "../memory/memoryPlan.ts";
import { digitStrides, epilogueStep } from "../splitStep.ts";
import type { Machine } from "../machine.ts";
import type { PlanResources } from "./planResources.ts";

/** Computes a step's elements from the accumulators, for a value range of the ranged digit in `digits`. */
type Epilogue = {
  bind(machine: Machine): (accumulators: readonly number[], start: number, end: number) => void;
};

/**
 * Plans the last part of a step.
 * @param strides For each out digit, its stride in the accumulators.
 * @param order The out digits in the order in which they are looped over; those of radix 1 may be missing.
 * @param out The step's tensor.
 * @param offset Where in it the elements begin, in bytes.
 */
export function planEpilogue(
  resources: PlanResources,
  step: Step,
  strides: readonly number[],
  { digits, ranged }: Pick<OutOrder, "digits" | "ranged">,
  out: Region,
  offset = 0,
): Epilogue {
  const whole = epilogueStep(step, strides);
  const outStrides = digitStrides(step.outDigits);
  const spec: LoopSpec = {
    digits,
    ranged,
    reads: whole.epilogueReads,
    sourceTypes: whole.inputs.map(({ dtype }) => dtype),
    constants: step.constants,
    code: step.epilogue.code,
    outs: [step.epilogue.out],
    outStrides: digits.map(({ digit }) => outStrides[digit]!),
  };
  const { loop, sources } = resources.loopOver(step, spec);
  return {
    bind(machine) {
      const addresses = sources.map((region) => region?.address ?? 0);
      const call = machine.loops[loop]!;
      return (accumulators, start, end) => {
        machine.clock.enter("loops");
        call([...addresses, ...accumulators], [out.address + offset], start, end);
      };
    },
  };
}

/** The loops' digits, the ranged digit's index, and the ranged digit's radix. */
export type OutOrder = { digits: readonly LoopDigit[]; ranged: number; radix: number };

/**
 * Returns a step's out digits in their own order, for an epilogue that runs in pieces. The epilogue then writes
 * elements side by side.
 * @param cut The digit to cut, if any.
 */
export function inOutOrder(step: Step, cut: LoopDigit | undefined): OutOrder {
  const digits = step.outDigits.map((radix, digit): LoopDigit => ({ digit, radix }));
  const ranged = cut?.digit ?? 0;
  return { digits, ranged, radix: digits[ranged]!.radix };
}

/** Whether a step's element is its one accumulator. */
export const isIdentityEpilogue = (step: Step): boolean =>
  step.epilogue.out === step.epilogueReads.length && accumulatorTypes(step).length === 1;
