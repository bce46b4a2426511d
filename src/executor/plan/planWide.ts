import { DType, dtypeBytes, isHalf } from "../../numerics/dtype.ts";
import { castsOnce, handlesLimbs } from "../../program/loops.ts";
import { isDot, isPartial, isTotal } from "../../program/reduction.ts";
import { Reduce, type Step } from "../../program/types.ts";
import { digitStrides } from "../splitStep.ts";
import type { LoopDigit, LoopSpec } from "../loops/spec.ts";
import type { Region } from "../memory/memoryPlan.ts";
import { roundedSum } from "../product/roundedSum.ts";
import type { Machine } from "../machine.ts";
import { planElementwise } from "./planElementwise.ts";
import { isIdentityEpilogue, planEpilogue } from "./planEpilogue.ts";
import type { PlanResources } from "./planResources.ts";
import { planReduction } from "./planReduction.ts";
import { termExpression } from "./productLayout.ts";
import { partOf } from "./ranges.ts";
import type { StepPlan } from "./stepPlan.ts";

/** The most terms that are gathered at a time, by all threads together: 64 MiB of each factor. */
const MAX_GATHERED = 2 ** 23;

/**
 * Plans a step with float64 loops. Their elementary functions and sums are estimates with an error bound. The
 * definition settles the remaining elements individually.
 * @returns undefined if the definition computes the whole step: words of exact sums, 16-bit sums, and casts that
 *   loops would round twice
 */
export function planWide(resources: PlanResources, step: Step, out: Region): StepPlan | undefined {
  const addsWords = isPartial(step.reduce) || isTotal(step.reduce);
  if (!castsOnce(step) || addsWords || handlesLimbs(step)) return undefined;
  if (step.reduceType !== undefined && isHalf(step.reduceType)) return undefined;
  if (step.reduce === Reduce.none) return planElementwise(resources, step, out);
  const adds = step.reduce === Reduce.sum || step.reduce === Reduce.dot;
  if (adds && step.reduceType === DType.float64) return planWideSum(resources, step, out);
  return planReduction(resources, step, out);
}

/** Plans a sum of float64: the terms of some elements are gathered, and added with an error bound. */
function planWideSum(resources: PlanResources, step: Step, out: Region): StepPlan | undefined {
  const terms = step.redDigits.reduce((product, radix) => product * radix, 1);
  const radix = Math.max(...step.outDigits);
  const ranged = step.outDigits.indexOf(radix);
  const perValue = step.count / radix;
  const gathered = perValue * terms;
  if (gathered > MAX_GATHERED) return undefined;
  // Work that lacks memory for a copy per thread runs on one thread.
  const shared = gathered * resources.options.threads <= MAX_GATHERED;
  const slots = isDot(step.reduce) ? [step.term.outA, step.term.outB] : [step.term.outA];
  const digits = [...step.outDigits, ...step.redDigits].map((all, digit): LoopDigit => ({ digit, radix: all }));
  // Gathered terms belong to a single value of the ranged digit.
  const radices = digits.map((digit, k) => (k === ranged ? 1 : digit.radix));
  const outStrides = digitStrides(radices).map((stride, k) => (k === ranged ? 0 : stride));
  const spec = (slot: number): LoopSpec => ({
    ...termExpression(step),
    ...{ digits, ranged, outStrides, outs: [slot] },
    sourceTypes: step.inputs.map(({ dtype }) => dtype),
  });
  const loops = slots.map((slot) => resources.loopOver(step, spec(slot)));
  const bytes = gathered * dtypeBytes(DType.float64);
  const makeBuffers = (): Region[] => slots.map(() => resources.scratch(bytes));
  const buffers = shared ? resources.perThread(makeBuffers) : [makeBuffers()];
  const handsOn = isIdentityEpilogue(step);
  const sums = handsOn ? out : resources.scratch(step.count * dtypeBytes(DType.float64));
  const order = { digits: digits.slice(0, step.outDigits.length), ranged };
  const strides = digitStrides(step.outDigits);
  const epilogue = handsOn ? undefined : planEpilogue(resources, step, strides, order, out);
  const places = placesOf(step.outDigits, ranged);
  return { shared, bind };

  function bind(machine: Machine): () => void {
    const { views, clock } = machine;
    const [start, end] = partOf(radix, machine);
    const regions = buffers[shared ? machine.thread : 0]!;
    const [a, b] = regions.map(({ address }) => views.float64(address, gathered));
    const into = views.float64(sums.address, step.count);
    const calls = loops.map(({ loop, sources }, n) => {
      const call = machine.loops[loop]!;
      const addresses = sources.map((region) => region?.address ?? 0);
      return (value: number) => call(addresses, [regions[n]!.address], value, value + 1);
    });
    const finish = epilogue?.bind(machine);
    return () => {
      clock.enter("reductions");
      for (let value = start; value < end; value++) {
        for (const call of calls) call(value);
        for (let k = 0; k < perValue; k++)
          into[places[k]! + value * strides[ranged]!] = roundedSum(a!, b, k * terms, terms, machine.alwaysExact);
      }
      finish?.([sums.address], start, end);
    };
  }
}

/** Where the elements lie that have 0 as the ranged digit, in row-major order. */
function placesOf(radices: readonly number[], ranged: number): number[] {
  const strides = digitStrides(radices);
  return radices.reduce<number[]>(
    (places, radix, digit) =>
      digit === ranged
        ? places
        : places.flatMap((place) => Array.from({ length: radix }, (_, value) => place + value * strides[digit]!)),
    [0],
  );
}
