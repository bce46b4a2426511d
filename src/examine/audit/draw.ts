import { dtypeName } from "../../numerics/dtype.ts";
import type { CompiledModel } from "../../program/compiled.ts";
import { estimateStepProofGas } from "../../program/gas.ts";
import { Reduce, type Step } from "../../program/types.ts";
import type { Random } from "./random.ts";

/** A step's element, and the stratum for which the element was drawn. */
export type Sample = { step: number; element: number; stratum: string };

/** Returns a step's reduction and the reduction's type: the verifier has different code for each pair. */
function kindOf({ reduce, reduceType, dtype }: Step): string {
  const name = Object.keys(Reduce).find((key) => Reduce[key as keyof typeof Reduce] === reduce);
  return `${name} ${dtypeName(reduceType ?? dtype)}`;
}

/** Returns the steps for each kind, and for each operator in the model. */
export function strataOf({ program, origins }: CompiledModel): Map<string, number[]> {
  const strata = new Map<string, number[]>();
  program.steps.forEach((step, s) => {
    const operators = new Set(origins[s]!.operator.split("+"));
    for (const name of [kindOf(step), ...operators]) {
      const steps = strata.get(name) ?? [];
      strata.set(name, steps);
      steps.push(s);
    }
  });
  return strata;
}

/** Returns the step with the highest estimated proof cost. */
function dearest(steps: readonly Step[]): number {
  const gas = steps.map(estimateStepProofGas);
  return gas.reduce((best, value, s) => (value > gas[best]! ? s : best), 0);
}

/**
 * Draws one element from every stratum and one from the step with the most gas, then from any steps until there are
 * `count`.
 */
export function drawSamples(model: CompiledModel, count: number, random: Random): Sample[] {
  const { steps } = model.program;
  const elementOf = (step: number): number => random(steps[step]!.count);
  const samples = [...strataOf(model)].map(([stratum, members]): Sample => {
    const step = members[random(members.length)]!;
    return { step, element: elementOf(step), stratum };
  });
  const max = dearest(steps);
  samples.push({ step: max, element: elementOf(max), stratum: "dearest" });
  while (samples.length < count) {
    const step = random(steps.length);
    samples.push({ step, element: elementOf(step), stratum: "any" });
  }
  return samples;
}
