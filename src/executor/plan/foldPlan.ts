import { DType } from "../../numerics/dtype.ts";
import { accumulatorTypes } from "../../program/reduction.ts";
import { Reduce, type Step } from "../../program/types.ts";
import { allocate, type TensorArray } from "../arrays.ts";
import { compileLoop } from "../loops/arrayLoop.ts";
import { reduceVectors } from "../reduction.ts";
import { digitStrides } from "../splitStep.ts";
import { ranges, type ReductionPlan } from "./plan.ts";
import { sizeOf, termExpression } from "./productLayout.ts";

/** All reductions but sum and dot: terms are evaluated for every element, then folded. */
export function foldPlan(step: Step): ReductionPlan {
  const radices = [...step.outDigits, ...step.redDigits];
  const digits = radices.map((radix, digit) => ({ digit, radix }));
  const { outA, outB } = step.term;
  const isLast = step.reduce === Reduce.last;
  const outTypes = isLast ? [DType.bool, step.reduceType!] : [step.reduceType!];
  const loop = compileLoop({
    ...termExpression(step),
    digits,
    sourceTypes: step.inputs.map(({ dtype }) => dtype),
    outs: isLast ? [outA, outB] : [outA],
  });
  const firstRadix = radices[0]!;
  const perValue = sizeOf(digits) / firstRadix;
  const inner = step.redDigits.reduce((product, radix) => product * radix, 1);
  const types = accumulatorTypes(step);
  return {
    strides: digitStrides(step.outDigits),
    types,
    run(sources, { chunkElements }) {
      const accumulators = types.map((dtype) => allocate(dtype, step.count));
      for (const [start, end] of ranges(firstRadix, perValue, chunkElements)) {
        const terms: TensorArray[] = outTypes.map((dtype) => allocate(dtype, (end - start) * perValue));
        loop(sources, terms, start, end);
        reduceVectors(step.reduce, inner, terms[0]!, terms[1], accumulators, (start * perValue) / inner);
      }
      return Promise.resolve(accumulators);
    },
  };
}
