import type { InputNumbers } from "../../../src/native/drawnInputs.ts";
import { bytesOfNumbers, numbersOf } from "../../../src/native/elements.ts";
import type { TensorInfo } from "../../../src/program/compiled.ts";

/** Halvings of the way between two inputs: more than the bits of a float32 change nothing. */
const HALVINGS = 48;

/**
 * Finds inputs on either side of a boundary on the way from `near` to `far`. First the way is halved again and again,
 * rounded to the inputs' types; then single elements are taken from one side or the other.
 * @param isFar Returns true for inputs on the far side of a boundary: false for `near`, true for `far`.
 * @returns inputs on the near side, and inputs on the far side that differ in one element
 */
export async function atBoundary(
  near: InputNumbers,
  far: InputNumbers,
  infos: readonly TensorInfo[],
  isFar: (numbers: InputNumbers) => Promise<boolean>,
): Promise<[InputNumbers, InputNumbers]> {
  for (let step = 0; step < HALVINGS; step++) {
    const middle = middleOf(near, far, infos);
    if (isSame(middle, near) || isSame(middle, far)) break;
    if (await isFar(middle)) far = middle;
    else near = middle;
  }
  const total = near.reduce((sum, { length }) => sum + length, 0);
  let [low, high] = [0, total];
  while (high - low > 1) {
    const taken = Math.floor((low + high) / 2);
    if (await isFar(joined(near, far, taken))) high = taken;
    else low = taken;
  }
  return [joined(near, far, low), joined(near, far, high)];
}

const middleOf = (a: InputNumbers, b: InputNumbers, infos: readonly TensorInfo[]): InputNumbers =>
  infos.map(({ dtype }, i) => {
    const half = a[i]!.map((value, k) => (value + b[i]![k]!) / 2);
    return numbersOf(bytesOfNumbers(half, dtype), dtype);
  });

/** The first so many elements of `far`, the others of `near`. */
function joined(near: InputNumbers, far: InputNumbers, taken: number): InputNumbers {
  let left = taken;
  return near.map((numbers, i) => {
    const [count, result] = [Math.min(left, numbers.length), numbers.slice()];
    result.set(far[i]!.subarray(0, count));
    left -= count;
    return result;
  });
}

const isSame = (a: InputNumbers, b: InputNumbers): boolean =>
  a.every((numbers, i) => numbers.every((value, k) => value === b[i]![k]));
