import { DType, dtypeBytes, type DType as DTypeCode } from "../../numerics/dtype.ts";
import { accumulatorTypes, hasTwoResults, isDot } from "../../program/reduction.ts";
import { Reduce, type Step, type View } from "../../program/types.ts";
import type { LoopDigit, LoopSpec } from "../loops/spec.ts";
import type { ReductionSpec } from "../loops/reductionSpec.ts";
import type { Region } from "../memory/memoryPlan.ts";
import { NORMS_BYTES, settleTerms } from "../product/settleTerms.ts";
import { splitDigits } from "../../program/view.ts";
import { neededSlots } from "../loops/slots.ts";
import { LANES } from "../loops/values.ts";
import { digitStrides } from "../splitStep.ts";
import { isIdentityEpilogue, planEpilogue } from "./planEpilogue.ts";
import { planPadding, type PaddedRead } from "./planPadding.ts";
import type { Machine, Operation } from "../machine.ts";
import type { StepPlan } from "./stepPlan.ts";
import { partOf } from "./ranges.ts";
import type { PlanResources } from "./planResources.ts";
import { termExpression } from "./productLayout.ts";

const FLOAT64 = 8;
const UINT32 = 4;

/**
 * Plans a reduction element by element, without gathering its terms: all but words of exact sums and large matrix
 * products.
 */
export function planReduction(resources: PlanResources, step: Step, out: Region): StepPlan {
  const dtype = step.reduceType!;
  const digits = [...step.outDigits, ...step.redDigits].map((radix, digit): LoopDigit => ({ digit, radix }));
  const sourceTypes = step.inputs.map((input) => input.dtype);
  const work = digits.reduce((product, { radix }) => product * radix, 1);
  const padded: PaddedRead[] = [];
  const termReads = step.termReads.map((view) => {
    const copy = planPadding(resources, step, view, sourceTypes.length + padded.length, work);
    if (copy !== undefined) padded.push(copy);
    return copy?.view ?? view;
  });
  const outDigits = loopOrder(step, digits, termReads);
  const strides = digitStrides(step.outDigits);
  const spec: ReductionSpec = {
    ...termExpression(step),
    reads: termReads,
    outStrides: outDigits.map(({ digit }) => strides[digit]!),
    sourceTypes: [...sourceTypes, ...padded.map(({ view }) => paddedType(step, termReads, view))],
    outDigits,
    redDigits: digits.slice(step.outDigits.length),
    reduce: step.reduce,
    reduceType: dtype,
    outA: step.term.outA,
    outB: step.term.outB,
  };
  const slots = hasTwoResults(step.reduce) ? [spec.outA, spec.outB] : [spec.outA];
  const reduction = resources.reduction(spec);
  const sources = resources.sources(step, { ...termExpression(step), outs: slots });
  const types = accumulatorTypes(step);
  const handsOn = isIdentityEpilogue(step);
  const accumulators = handsOn ? [out] : types.map((type) => resources.scratch(step.count * dtypeBytes(type)));
  const epilogue = handsOn ? undefined : planEpilogue(resources, step, strides, { digits: outDigits, ranged: 0 }, out);
  const isFloatSum = dtype === DType.float32 && (step.reduce === Reduce.sum || step.reduce === Reduce.dot);
  const flagged = resources.scratch(isFloatSum ? step.count * UINT32 : 0);
  const settler = isFloatSum ? planSettler(resources, step, [...outDigits, ...spec.redDigits], sources) : undefined;
  const firstRadix = outDigits[0]!.radix;
  const perValue = step.count / firstRadix;
  return { shared: true, bind };

  function bind(machine: Machine): Operation {
    const { stats, clock } = machine;
    const call = machine.reductions[reduction]!;
    const addresses = [...sources, ...padded.map(({ region }) => region)].map((region) => region?.address ?? 0);
    const pads = padded.map((copy) => copy.bind(machine));
    const outs = accumulators.map(({ address }) => address);
    const [start, end] = partOf(firstRadix, machine);
    const list = flagged.address + start * perValue * UINT32;
    const finish = epilogue?.bind(machine);
    const settle = settler?.(machine, outs[0]!);
    return () => {
      for (const pad of pads) pad();
      clock.enter("reductions");
      const count = call(addresses, outs, list, start, end);
      if (isFloatSum) stats.elements += (end - start) * perValue;
      if (isFloatSum && machine.alwaysExact) settle?.(list, listAll(machine, list, start * perValue, end * perValue));
      else if (count > 0) settle?.(list, count);
      finish?.(outs, start, end);
    };
  }
}

/** Lists all elements of a range; returns how many. */
function listAll({ views }: Machine, list: number, first: number, end: number): number {
  views.uint32(list, end - first).forEach((_, k, all) => (all[k] = first + k));
  return end - first;
}

/**
 * Returns the out digits in loop order. The order is the step's own, unless another digit than the last has values side
 * by side in all reads: vectors then run along that digit.
 */
function loopOrder(step: Step, digits: readonly LoopDigit[], reads: readonly View[]): LoopDigit[] {
  const outDigits = digits.slice(0, step.outDigits.length);
  const slots = hasTwoResults(step.reduce) ? [step.term.outA, step.term.outB] : [step.term.outA];
  const needed = [...neededSlots(termExpression(step), slots)].filter((slot) => slot < reads.length);
  const steps = (digit: number): number[] =>
    needed.map((slot) =>
      reads[slot]!.axes.reduce(
        (sum, { coeffs, stride }) => sum + stride * (coeffs.find((term) => term.digit === digit)?.coeff ?? 0),
        0,
      ),
    );
  const runsAlong = ({ digit, radix }: LoopDigit): boolean => {
    const by = steps(digit);
    return radix >= LANES && by.includes(1) && by.every((step) => step === 0 || step === 1);
  };
  const last = outDigits.at(-1)!;
  if (runsAlong(last)) return outDigits;
  const better = outDigits.findLast(runsAlong);
  return better === undefined ? outDigits : [...outDigits.filter((digit) => digit !== better), better];
}

/** Returns the type of a copy's elements: the type of the tensor read by the view at the same place. */
const paddedType = (step: Step, reads: readonly View[], view: View): DTypeCode =>
  step.inputs[step.termReads[reads.indexOf(view)]!.input]!.dtype;

/**
 * Plans how listed elements of a float32 sum are settled: their terms are gathered for one value of the first digit at
 * a time.
 * @param digits Out digits in the order in which listed elements are numbered, then reduction digits.
 */
function planSettler(
  resources: PlanResources,
  step: Step,
  digits: readonly LoopDigit[],
  sources: readonly (Region | undefined)[],
): (machine: Machine, out: number) => (list: number, count: number) => void {
  const terms = step.redDigits.reduce((product, radix) => product * radix, 1);
  const perValue = step.count / digits[0]!.radix;
  const outRadices = digits.slice(0, step.outDigits.length).map(({ radix }) => radix);
  const stepStrides = digitStrides(step.outDigits);
  const moves = digits.slice(0, step.outDigits.length).map(({ digit }) => stepStrides[digit]!);
  const placeOf = (index: number): number =>
    splitDigits(index, outRadices).reduce((place, value, k) => place + value * moves[k]!, 0);
  const slots = isDot(step.reduce) ? [step.term.outA, step.term.outB] : [step.term.outA];
  // Relative to a value of the first digit.
  const outStrides = [0, ...digitStrides(digits.map(({ radix }) => radix)).slice(1)];
  const spec = (slot: number): LoopSpec => ({
    ...termExpression(step),
    digits,
    sourceTypes: step.inputs.map(({ dtype }) => dtype),
    outs: [slot],
    outStrides,
    widened: [0],
  });
  const loops = slots.map((slot) => resources.loop(spec(slot)));
  const bytes = perValue * terms * FLOAT64;
  const buffers = resources.perThread(() => ({
    factors: slots.map(() => resources.scratch(bytes)),
    ones: resources.scratch(slots.length === 1 ? terms * FLOAT64 : 0),
    norms: resources.scratch(NORMS_BYTES),
  }));
  return (machine, out) => {
    const { views, stats, clock } = machine;
    const { factors, ones, norms } = buffers[machine.thread]!;
    const addresses = sources.map((region) => region?.address ?? 0);
    const bits = views.uint32(out, step.count);
    const settled = settleTerms(machine, terms, norms.address);

    return (list, count) => {
      clock.enter("patch");
      stats.flagged += count;
      if (slots.length === 1) views.float64(ones.address, terms).fill(1);
      let gathered = -1;
      for (const index of views.uint32(list, count)) {
        const value = Math.floor(index / perValue);
        if (value !== gathered) {
          loops.forEach((loop, n) => machine.loops[loop]!(addresses, [factors[n]!.address], value, value + 1));
          gathered = value;
        }
        const at = (index - value * perValue) * terms * FLOAT64;
        bits[placeOf(index)] = settled(
          factors[0]!.address + at,
          factors.length === 1 ? ones.address : factors[1]!.address + at,
        );
      }
    };
  };
}
