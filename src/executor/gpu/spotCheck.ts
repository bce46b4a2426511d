import { readWord } from "../../numerics/dtype.ts";
import type { Prng } from "../../base/prng.ts";
import { evaluateElement } from "../../program/evaluate.ts";
import type { Step } from "../../program/types.ts";

/** Elements of a checked step. */
const ELEMENTS = 4;

/**
 * Computes some elements of a step by the definition, on the CPU.
 * @param sources The bytes of the step's inputs, or a function that gives an element.
 * @param tensor The step's tensor.
 * @returns The first element found that has other bits; undefined if none has
 */
export function wrongElement(
  step: Step,
  sources: readonly (Uint8Array | ((at: number) => bigint))[],
  tensor: Uint8Array,
  prng: Prng,
): number | undefined {
  const read = (input: number, at: number): bigint => {
    const source = sources[input]!;
    return typeof source === "function" ? source(at) : readWord(source, at, step.inputs[input]!.dtype);
  };
  return Array.from({ length: ELEMENTS }, () => prng.below(step.count)).find(
    (index) => evaluateElement(step, index, read) !== readWord(tensor, index, step.dtype),
  );
}
