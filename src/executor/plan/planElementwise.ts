import type { Step } from "../../program/types.ts";
import type { LoopDigit } from "../loops/spec.ts";
import type { Region } from "../memory/memoryPlan.ts";
import { planEpilogue } from "./planEpilogue.ts";
import { partsOf } from "./planParts.ts";
import type { PlanResources } from "./planResources.ts";
import { partOf } from "./ranges.ts";
import type { StepPlan } from "./stepPlan.ts";

/** A step that reduces nothing; one that joins tensors, part by part. */
export function planElementwise(resources: PlanResources, step: Step, out: Region): StepPlan {
  const parts = partsOf(step) ?? [{ first: 0, radix: step.outDigits[0]!, step, offset: 0 }];
  const planned = parts.map(({ first, radix, step: own, offset }) => {
    const digits = own.outDigits.map((size, digit): LoopDigit => ({ digit, radix: size }));
    return { first, radix, epilogue: planEpilogue(resources, own, [], { digits, ranged: 0 }, out, offset) };
  });
  return {
    shared: true,
    bind(machine) {
      const [start, end] = partOf(step.outDigits[0]!, machine);
      const calls = planned.flatMap(({ first, radix, epilogue }) => {
        const finish = epilogue.bind(machine);
        const [from, to] = [Math.max(start - first, 0), Math.min(end - first, radix)];
        return from < to || planned.length === 1 ? [() => finish([], from, to)] : [];
      });
      return () => calls.forEach((call) => call());
    },
  };
}
