import { DType } from "../../numerics/dtype.ts";
import { wordNumber } from "../../numerics/numbers.ts";
import { castsOnce, handlesLimbs } from "../../program/loops.ts";
import { Op } from "../../program/operations.ts";
import { Reduce, type Instruction, type Step } from "../../program/types.ts";
import { slotTypes } from "../loops/slots.ts";
import type { Region } from "../memory/memoryPlan.ts";
import { isIdentityEpilogue } from "./planEpilogue.ts";
import { planGathered } from "./planGathered.ts";
import type { PlanResources } from "./planResources.ts";
import { termExpression } from "./productLayout.ts";
import type { StepPlan } from "./stepPlan.ts";

const { float32, float64, int64 } = DType;
const SUM_BYTES = 8;

/** A sum of float32 products, rounded to multiples of a unit: the factors' slots, and what the kernel takes. */
type FixedSum = { slots: readonly number[]; scale: number; least: number; most: number };

/** Plans a sum of fixed-point terms, as `fixedSum` of the compiler writes the sum; undefined for other steps. */
export function planFixedSum(resources: PlanResources, step: Step, out: Region): StepPlan | undefined {
  const found = fixedSumOf(step);
  if (found === undefined) return undefined;
  const { slots, scale, least, most } = found;
  return planGathered(resources, { ...step, reduceType: float32 }, out, {
    ...{ slots, without: new Set(), sumBytes: SUM_BYTES, mayShare: true },
    add: ({ kernels }, a, b, bStep, terms, count, at) =>
      kernels.fixedSums(a, b, bStep, terms, count, at, scale, least, most),
  });
}

/** Reads a term back to front: cast, max, min, round, times the scale, a product or a single factor. */
function fixedSumOf(step: Step): FixedSum | undefined {
  if (step.reduce !== Reduce.sum || step.reduceType !== int64 || !isIdentityEpilogue(step)) return undefined;
  // Loops over factors would round such casts twice.
  if (!castsOnce(step) || handlesLimbs(step)) return undefined;
  const { termReads, constants, term } = step;
  const types = slotTypes(
    termExpression(step),
    step.inputs.map(({ dtype }) => dtype),
  );
  const madeBy = (slot: number | undefined, op: Op, dtype: DType): Instruction | undefined => {
    const made = slot === undefined ? undefined : term.code[slot - termReads.length - constants.length];
    return made?.op === op && made.dtype === dtype ? made : undefined;
  };
  const numberAt = (slot: number | undefined): number => {
    const constant = slot === undefined ? undefined : constants[slot - termReads.length];
    return constant?.dtype === float64 ? wordNumber(constant.value, float64) : NaN;
  };
  const max = madeBy(madeBy(term.outA, Op.cast, float64)?.a, Op.max, float64);
  const min = madeBy(max?.a, Op.min, float64);
  const scaled = madeBy(madeBy(min?.a, Op.round, float64)?.a, Op.mul, float64);
  const [scale, least, most] = [numberAt(scaled?.b), numberAt(max?.b), numberAt(min?.b)];
  if (scaled === undefined || !(scale > 0 && least <= 0 && most >= 0)) return undefined;
  const product = madeBy(scaled.a, Op.mul, float64);
  const wide = product === undefined ? [scaled.a] : [product.a, product.b];
  const slots = wide.map((slot) => madeBy(slot, Op.cast, float32)?.a);
  if (!slots.every((slot): slot is number => slot !== undefined && types[slot] === float32)) return undefined;
  return { slots, scale, least, most };
}
