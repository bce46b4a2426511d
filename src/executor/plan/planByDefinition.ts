import type { Step } from "../../program/types.ts";
import { bytesOf, readableArray } from "../arrays.ts";
import type { Region } from "../memory/memoryPlan.ts";
import { executeStepReference } from "../referenceStep.ts";
import type { StepPlan } from "./stepPlan.ts";
import type { PlanResources } from "./planResources.ts";

/** Plans a step that no faster plan covers: element by element, by the definition. */
export function planByDefinition(resources: PlanResources, step: Step, out: Region): StepPlan {
  const sources = resources.allSources(step);
  return {
    shared: false,
    bind({ views, clock }) {
      const parts = sources.map(({ address, bytes }) => views.part(address, bytes));
      return () => {
        clock.enter("other");
        const tensor = executeStepReference(step, parts);
        views.bytes.set(bytesOf(readableArray(tensor, step.dtype)), out.address);
      };
    },
  };
}
