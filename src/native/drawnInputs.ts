import type { Prng } from "../base/prng.ts";
import { isFloat } from "../numerics/dtype.ts";
import { elementCount } from "../model/onnx/model.ts";
import type { TensorInfo } from "../program/compiled.ts";
import type { Box, InputRange } from "./inputRange.ts";

/** The elements of a program's inputs in numbers, in the program's order. */
export type InputNumbers = readonly Float64Array[];

/** Uniform in 0 .. 1. */
const unit = (prng: Prng): number => prng.uint32() / 2 ** 32;

/** Draws a number from a range, not yet rounded to the range's type. */
function drawn({ dtype, low, high }: Pick<InputRange, "dtype" | "low" | "high">, prng: Prng): number {
  const value = low + (high - low) * unit(prng);
  return isFloat(dtype) ? value : Math.round(value);
}

/**
 * Draws random inputs from a box: every second time from the whole box, otherwise each input from a random part of its
 * range.
 */
export function drawInputs(infos: readonly TensorInfo[], box: Box, prng: Prng): InputNumbers {
  const isWhole = prng.below(2) === 0;
  return infos.map(({ shape }, i) => {
    const range = box[i]!;
    const [a, b] = isWhole ? [range.low, range.high] : [drawn(range, prng), drawn(range, prng)];
    const part = { ...range, low: Math.min(a, b), high: Math.max(a, b) };
    return Float64Array.from({ length: elementCount(shape) }, () => drawn(part, prng));
  });
}

/** How many elements of an input a change alters: one, or these parts of them. */
const PARTS = [0, 0, 0.01, 0.1, 1] as const;
/** The step sizes for moving an element, in fractions of the range. */
const STEPS = [1e-4, 1e-2, 0.1, 0.5] as const;

/** Inputs near others, inside the box: some elements moved, drawn anew, or put to an end of their range. */
export function changedInputs(inputs: InputNumbers, box: Box, prng: Prng): InputNumbers {
  const chosen = prng.below(inputs.length);
  const [part, step, kind] = [prng.pick(PARTS), prng.pick(STEPS), prng.below(4)];
  const range = box[chosen]!;
  const change = (value: number): number => {
    if (kind === 0) return drawn(range, prng);
    if (kind === 1) return prng.below(2) === 0 ? range.low : range.high;
    const by = (range.high - range.low) * step * (2 * unit(prng) - 1);
    const moved = isFloat(range.dtype) ? value + by : Math.round(value + by);
    return Math.min(range.high, Math.max(range.low, moved));
  };
  return inputs.map((numbers, i) => {
    if (i !== chosen) return numbers;
    const result = numbers.slice();
    const times = Math.max(1, Math.round(part * numbers.length));
    if (times === numbers.length) return result.map(change);
    for (let n = 0; n < times; n++) {
      const at = prng.below(numbers.length);
      result[at] = change(result[at]!);
    }
    return result;
  });
}
