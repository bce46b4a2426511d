import { DType, dtypeBytes, floatFormat, readWord, type DType as DTypeCode, type Word } from "../../numerics/dtype.ts";
import { evaluateElement } from "../../program/evaluate.ts";
import { Reduce, type Step } from "../../program/types.ts";
import { widenedReduction, widenedTerm } from "../../program/widen.ts";
import type { LoopDigit } from "../loops/spec.ts";
import type { Region } from "../memory/memoryPlan.ts";
import { digitStrides } from "../splitStep.ts";
import { exactSums } from "../exactSums.ts";
import { narrowed } from "../halfBits.ts";
import { planEpilogue } from "./planEpilogue.ts";
import type { StepPlan } from "./stepPlan.ts";
import { bytesAt, type PlanResources } from "./planResources.ts";

/** Plans a step whose reduction does not use 16-bit floats. */
type ChooseStepPlan = (resources: PlanResources, step: Step, out: Region) => StepPlan;

/**
 * Plans a 16-bit float reduction as a float32 reduction. Widening the terms is exact. For extrema and chosen elements,
 * narrowing is exact too. A sum rounded to float32 and then to 16 bits equals the exact sum rounded once, except if the
 * float32 lies halfway between two 16-bit numbers: the definition settles those elements.
 */
export function planHalfReduction(
  resources: PlanResources,
  step: Step,
  out: Region,
  chooseStepPlan: ChooseStepPlan,
): StepPlan {
  const adds = step.reduce === Reduce.sum || step.reduce === Reduce.dot;
  return adds ? sumPlan(resources, step, out, chooseStepPlan) : chooseStepPlan(resources, widenedReduction(step), out);
}

/** Returns a step that outputs another step's accumulator. */
const accumulatorOf = (step: Step, dtype: DTypeCode): Step => ({
  ...step,
  dtype,
  epilogueReads: [],
  epilogue: { code: [], out: 0 },
});

function sumPlan(resources: PlanResources, step: Step, out: Region, chooseStepPlan: ChooseStepPlan): StepPlan {
  const dtype = step.reduceType!;
  const exact = accumulatorOf(step, dtype);
  const sums = resources.scratch(step.count * 4);
  const rounded = chooseStepPlan(resources, accumulatorOf({ ...step, ...widenedTerm(step) }, DType.float32), sums);
  const halves = resources.scratch(step.count * dtypeBytes(dtype));
  const digits = step.outDigits.map((radix, digit): LoopDigit => ({ digit, radix }));
  const epilogue = planEpilogue(resources, step, digitStrides(step.outDigits), { digits, ranged: 0 }, out);
  const sources = resources.readSources(step);
  return {
    shared: false,
    prepare: rounded.prepare,
    bind(machine) {
      const { views, clock } = machine;
      // One thread computes all parts.
      const reduce = rounded.bind({ ...machine, part: 0, parts: 1 });
      const finish = epilogue.bind(machine);
      const bits = views.uint32(sums.address, step.count);
      const into = views.elements(halves.address, DType.uint16, step.count);
      const parts = sources.map((region) => bytesAt(machine, region));
      const read = (input: number, offset: number): Word => readWord(parts[input]!, offset, step.inputs[input]!.dtype);
      const end = (): void => {
        clock.enter("certify");
        let sumOf: ReturnType<typeof exactSums>;
        for (let i = 0; i < bits.length; i++) {
          const half = machine.alwaysExact ? undefined : narrowed(bits[i]!, dtype);
          if (half === undefined) sumOf ??= exactSums(step, parts);
          into[i] = half ?? Number(sumOf?.(i).roundTo(floatFormat(dtype)) ?? evaluateElement(exact, i, read));
        }
        finish([halves.address], 0, step.outDigits[0]!);
      };
      return () => {
        const pending = reduce();
        return pending === undefined ? end() : pending.then(end);
      };
    },
  };
}
