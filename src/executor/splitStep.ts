import { accumulatorTypes } from "../program/reduction.ts";
import { Reduce, type Step, type TensorRef, type View } from "../program/types.ts";

/** Strides of row-major digits. */
export function digitStrides(radices: readonly number[]): number[] {
  const strides = new Array<number>(radices.length).fill(1);
  for (let k = radices.length - 2; k >= 0; k--) strides[k] = strides[k + 1]! * radices[k + 1]!;
  return strides;
}

/**
 * Returns a step's epilogue as a separate step without a reduction. The accumulators become further inputs. Each
 * accumulator is read at the element's own index, after the epilogue's other reads: the accumulators' slots come there.
 * The step may exceed the limits on inputs and reads.
 * @param strides Each out digit's stride in the accumulators; row-major by default.
 */
export function epilogueStep(step: Step, strides: readonly number[] = digitStrides(step.outDigits)): Step {
  const types = accumulatorTypes(step);
  const inputs = types.map((dtype): TensorRef => ({ kind: "input", index: 0, dtype, count: step.count }));
  const views = types.map((_, n): View => {
    const coeffs = strides.map((coeff, digit) => ({ digit, coeff }));
    return {
      input: step.inputs.length + n,
      fill: 0n,
      axes: [{ extent: step.count, stride: 1, base: 0, div: 1, coeffs }],
    };
  });
  const { dtype, count, outDigits, constants, epilogue } = step;
  return {
    dtype,
    count,
    outDigits,
    constants,
    epilogue,
    inputs: [...step.inputs, ...inputs],
    redDigits: [],
    reduce: Reduce.none,
    termReads: [],
    epilogueReads: [...step.epilogueReads, ...views],
    term: { code: [], outA: 0, outB: 0 },
  };
}
