import { DType } from "../../numerics/dtype.ts";
import { isPartial } from "../../program/reduction.ts";
import { Reduce, type Step } from "../../program/types.ts";
import { allocate, bytesOf, canonicaliseFloats, float32Bits, readableArray, type TensorArray } from "../arrays.ts";
import { compileLoop } from "../loops/arrayLoop.ts";
import { canCompile } from "../loops/compile.ts";
import type { LoopSpec } from "../loops/spec.ts";
import { executeStepReference } from "../referenceStep.ts";
import { epilogueStep } from "../splitStep.ts";
import { foldPlan } from "./foldPlan.ts";
import { partialPlan } from "./partialPlan.ts";
import type { StepPlan } from "./plan.ts";
import { productPlan } from "./productPlan.ts";
import { termExpression } from "./productLayout.ts";
import { isPlainTotal, totalPlan } from "./totalPlan.ts";

/** How a step is executed: compiled loops around products and reductions; unusual steps by the definition. */
export function planStep(step: Step): StepPlan {
  const radices = [...step.outDigits, ...step.redDigits];
  const digits = radices.map((radix, digit) => ({ digit, radix }));
  const sourceTypes = step.inputs.map(({ dtype }) => dtype);
  const terms: LoopSpec = { ...termExpression(step), digits, sourceTypes, outs: [] };
  if (!canCompile(terms) || !canCompile({ ...terms, reads: step.epilogueReads })) return byDefinition(step);
  if (isPartial(step.reduce)) return partialPlan(step) ?? byDefinition(step);
  const copiesLimbs = [...step.epilogueReads].some(({ input }) => sourceTypes[input] === DType.limb);
  const readsLimbs = step.termReads.some(({ input }) => sourceTypes[input] === DType.limb);
  if (copiesLimbs || step.dtype === DType.limb || (readsLimbs && !isPlainTotal(step))) return byDefinition(step);

  const isProduct = step.reduce === Reduce.sum || step.reduce === Reduce.dot;
  const reduction =
    step.reduce === Reduce.none
      ? undefined
      : isProduct
        ? productPlan(step)
        : isPlainTotal(step)
          ? totalPlan(step)
          : foldPlan(step);
  const epilogue = epilogueStep(step, reduction?.strides);
  const loop = compileLoop({
    digits: digits.slice(0, step.outDigits.length),
    reads: epilogue.epilogueReads,
    sourceTypes: epilogue.inputs.map(({ dtype }) => dtype),
    constants: step.constants,
    code: step.epilogue.code,
    outs: [step.epilogue.out],
  });
  return async (sources, context) => {
    const accumulators: TensorArray[] = reduction === undefined ? [] : await reduction.run(sources, context);
    const out = allocate(step.dtype, step.count);
    loop([...sources, ...accumulators], [out], 0, step.outDigits[0]!);
    if (out instanceof Float32Array) canonicaliseFloats(float32Bits(out));
    return out;
  };
}

function byDefinition(step: Step): StepPlan {
  return (sources) => Promise.resolve(readableArray(executeStepReference(step, sources.map(bytesOf)), step.dtype));
}
