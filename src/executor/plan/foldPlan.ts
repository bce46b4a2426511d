import { DType } from "../../numerics/dtype.ts";
import { Reduce, type Step } from "../../program/types.ts";
import type { Region } from "../memory/memoryPlan.ts";
import { reduceVectors } from "../reduction.ts";
import { arrayPlan } from "./arrayPlan.ts";
import type { StepPlan } from "./plan.ts";
import type { Planner } from "./planner.ts";

/** All reductions but sum and dot: terms are evaluated for every element, then folded. */
export function foldPlan(planner: Planner, step: Step, out: Region): StepPlan {
  const { outA, outB } = step.term;
  const dtype = step.reduceType!;
  const slots =
    step.reduce === Reduce.last
      ? [
          { slot: outA, dtype: DType.bool },
          { slot: outB, dtype },
        ]
      : [{ slot: outA, dtype }];
  const inner = step.redDigits.reduce((product, radix) => product * radix, 1);
  return arrayPlan(planner, step, slots, out, ([a, b], outs, start) =>
    reduceVectors(step.reduce, inner, a!, b, outs, start),
  );
}
