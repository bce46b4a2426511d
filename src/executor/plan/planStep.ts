import { DType, dtypeBytes, isFloat, isHalf, type DType as DTypeCode } from "../../numerics/dtype.ts";
import { Op } from "../../program/operations.ts";
import { isPartial } from "../../program/reduction.ts";
import { Reduce, type Step } from "../../program/types.ts";
import { canCompile } from "../loops/compile.ts";
import type { LoopDigit, LoopSpec } from "../loops/spec.ts";
import type { Region } from "../memory/memoryPlan.ts";
import { bytePlan } from "./bytePlan.ts";
import { definitionPlan } from "./definitionPlan.ts";
import { planEpilogue } from "./epilogue.ts";
import { halfPlan } from "./halfPlan.ts";
import { narrowPlan } from "./narrowPlan.ts";
import { partialPlan } from "./partialPlan.ts";
import type { StepPlan } from "./stepPlan.ts";
import { partOf } from "./ranges.ts";
import type { Planner } from "./planner.ts";
import { termExpression } from "./productLayout.ts";
import { productPlan } from "./productPlan.ts";
import { windowPlan } from "./windowPlan.ts";
import { reductionPlan } from "./reductionPlan.ts";
import { isPlainTotal, totalPlan } from "./totalPlan.ts";

/** How a step is executed: compiled loops around products and reductions; unusual steps by the definition. */
export function planStep(planner: Planner, step: Step, out: Region): StepPlan {
  const radices = [...step.outDigits, ...step.redDigits];
  const digits = radices.map((radix, digit): LoopDigit => ({ digit, radix }));
  const sourceTypes = step.inputs.map(({ dtype }) => dtype);
  if (!hasLoops(step)) return definitionPlan(planner, step, out);
  const terms: LoopSpec = { ...termExpression(step), digits, sourceTypes, outs: [] };
  const plain = canCompile(terms) && canCompile({ ...terms, reads: step.epilogueReads });
  if (!plain) return definitionPlan(planner, step, out);
  if (isPartial(step.reduce)) return partialPlan(planner, step, out) ?? definitionPlan(planner, step, out);
  const copiesLimbs = step.epilogueReads.some(({ input }) => sourceTypes[input] === DType.limb);
  const readsLimbs = step.termReads.some(({ input }) => sourceTypes[input] === DType.limb);
  if (copiesLimbs || step.dtype === DType.limb || (readsLimbs && !isPlainTotal(step)))
    return definitionPlan(planner, step, out);

  if (step.reduceType !== undefined && isHalf(step.reduceType)) return halfPlan(planner, step, out, planStep);
  if (step.reduce === Reduce.none) return elementwisePlan(planner, step, out);
  if (isPlainTotal(step)) return totalPlan(planner, step, out);
  const direct =
    planner.options.leastEngineWork === 0
      ? undefined
      : (windowPlan(planner, step, out) ?? narrowPlan(planner, step, out));
  return direct ?? productPlan(planner, step, out) ?? bytePlan(planner, step, out) ?? reductionPlan(planner, step, out);
}

function elementwisePlan(planner: Planner, step: Step, out: Region): StepPlan {
  const digits = step.outDigits.map((radix, digit): LoopDigit => ({ digit, radix }));
  const epilogue = planEpilogue(planner, step, [], { digits, ranged: 0 }, out);
  return {
    shared: true,
    bind(machine) {
      const finish = epilogue.bind(machine);
      const [start, end] = partOf(digits[0]!.radix, machine);
      return () => finish([], start, end);
    },
  };
}

/**
 * Whether loops are compiled for the step's types: float64 has none, nor has the conversion of large integers to
 * bfloat16.
 */
function hasLoops({ dtype, inputs, constants, term, epilogue }: Step): boolean {
  const code = [...term.code, ...epilogue.code];
  const casts = code.flatMap(({ op, dtype: from, b }) => (op === Op.cast ? [{ from, to: b as DTypeCode }] : []));
  const types = [dtype, ...[...inputs, ...constants, ...code].map((part) => part.dtype), ...casts.map(({ to }) => to)];
  if (types.includes(DType.float64)) return false;
  return casts.every(({ from, to }) => to !== DType.bfloat16 || isFloat(from) || dtypeBytes(from) <= 2);
}
