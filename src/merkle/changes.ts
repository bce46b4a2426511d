import { UNIT_BYTES, unitsOf, WHOLE_UNIT } from "./levels.ts";
import { CHUNK_BYTES } from "./sizes.ts";

/**
 * Copies the chunks of a tensor that differ from a copy to that copy.
 * @param marks One for each unit of hashing; receives a bit for each chunk that differs.
 */
export function copyChanges(tensor: Uint8Array, copy: Uint8Array, marks: Uint32Array): void {
  for (let unit = 0; unit < unitsOf(tensor.length); unit++) {
    const [from, to] = [unit * UNIT_BYTES, (unit + 1) * UNIT_BYTES];
    marks[unit] = copyUnit(tensor.subarray(from, to), copy.subarray(from, to));
  }
}

/** @returns the marks of the chunks that were copied */
function copyUnit(unit: Uint8Array, copy: Uint8Array): number {
  // All of it at once first: most units have no change, and a call costs as much as some hundred bytes.
  if (areEqual(unit, copy)) return 0;
  let marks = 0;
  for (let k = 0; k * CHUNK_BYTES < unit.length; k++) {
    const [from, to] = [k * CHUNK_BYTES, (k + 1) * CHUNK_BYTES];
    const chunk = unit.subarray(from, to);
    if (areEqual(chunk, copy.subarray(from, to))) continue;
    copy.set(chunk, from);
    marks |= 1 << k;
  }
  return marks >>> 0;
}

/** Copies a whole tensor. @param marks One for each unit; all chunks are marked. */
export function copyWhole(tensor: Uint8Array, copy: Uint8Array, marks: Uint32Array): void {
  copy.set(tensor);
  marks.fill(WHOLE_UNIT);
}

/** Compares bytes, not numbers: NaNs of other bits differ, equal ones do not. */
const areEqual = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;
