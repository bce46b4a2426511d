import { dtypeName } from "../../numerics/dtype.ts";
import type { CompiledModel } from "../../program/compiled.ts";
import { estimateStepProofGas } from "../../program/gas.ts";
import { Reduce, type Step } from "../../program/types.ts";
import type { Random } from "./random.ts";

/** An element of a step, and what it was drawn for. */
export type Sample = { step: number; element: number; stratum: string };

/** How a step reduces, and the type it does so in: what the verifier has different code for. */
function kindOf({ reduce, reduceType, dtype }: Step): string {
  const name = Object.keys(Reduce).find((key) => Reduce[key as keyof typeof Reduce] === reduce);
  return `${name} ${dtypeName(reduceType ?? dtype)}`;
}

/** The steps of each kind, and of each operator of the model. */
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

/** The step whose proof is estimated to cost the most. */
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
