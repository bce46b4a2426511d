import { isHalf } from "../../numerics/dtype.ts";
import { handlesLimbs, hasSettledTypes, isPlainTotal } from "../../program/loops.ts";
import { isPartial } from "../../program/reduction.ts";
import { Reduce, type Step } from "../../program/types.ts";
import { canCompile } from "../loops/compile.ts";
import type { LoopDigit, LoopSpec } from "../loops/spec.ts";
import type { Region } from "../memory/memoryPlan.ts";
import { planByteProduct } from "./planByteProduct.ts";
import { planByDefinition } from "./planByDefinition.ts";
import { planElementwise } from "./planElementwise.ts";
import { planFixedSum } from "./planFixedSum.ts";
import { planHalfReduction } from "./planHalfReduction.ts";
import { planNarrowProduct } from "./planNarrowProduct.ts";
import { planPartialSum } from "./planPartialSum.ts";
import { planPartialTotal } from "./planPartialTotal.ts";
import { widenedTerm } from "../../program/widen.ts";
import type { StepPlan } from "./stepPlan.ts";
import type { PlanResources } from "./planResources.ts";
import { termExpression } from "./productLayout.ts";
import { planFloatProduct } from "./planFloatProduct.ts";
import { planVectorProduct } from "./planVectorProduct.ts";
import { planWindowSum } from "./planWindowSum.ts";
import { planReduction } from "./planReduction.ts";
import { planTotal } from "./planTotal.ts";
import { planWide } from "./planWide.ts";

/**
 * Chooses how a step is executed: by compiled loops around products and reductions; unusual steps by the definition.
 */
export function chooseStepPlan(resources: PlanResources, step: Step, out: Region): StepPlan {
  const radices = [...step.outDigits, ...step.redDigits];
  const digits = radices.map((radix, digit): LoopDigit => ({ digit, radix }));
  const sourceTypes = step.inputs.map(({ dtype }) => dtype);
  const terms: LoopSpec = { ...termExpression(step), digits, sourceTypes, outs: [] };
  const plain = canCompile(terms) && canCompile({ ...terms, reads: step.epilogueReads });
  if (!plain) return planByDefinition(resources, step, out);
  if (!hasSettledTypes(step))
    return (
      planFixedSum(resources, step, out) ?? planWide(resources, step, out) ?? planByDefinition(resources, step, out)
    );
  if (isPartial(step.reduce)) {
    // Terms of 16-bit floats are widened to float32; the words of their sums stay the same.
    const wide = isHalf(step.reduceType!) ? { ...step, ...widenedTerm(step) } : step;
    return planPartialSum(resources, wide, out) ?? planByDefinition(resources, step, out);
  }
  if (handlesLimbs(step)) return planPartialTotal(resources, step, out) ?? planByDefinition(resources, step, out);

  if (isPlainTotal(step)) return planTotal(resources, step, out);
  if (step.reduceType !== undefined && isHalf(step.reduceType))
    return planHalfReduction(resources, step, out, chooseStepPlan);
  if (step.reduce === Reduce.none) return planElementwise(resources, step, out);
  const direct =
    resources.options.minEngineWork === 0
      ? undefined
      : (planVectorProduct(resources, step, out) ??
        planWindowSum(resources, step, out) ??
        planNarrowProduct(resources, step, out));
  return (
    direct ??
    planFloatProduct(resources, step, out) ??
    planByteProduct(resources, step, out) ??
    planReduction(resources, step, out)
  );
}
