import type { DecidingTensor } from "../model/decision/margin.ts";
import { CalibrationError } from "./errors.ts";

/**
 * The distance between a native and an exact tensor: the maximum, and the maximum divided by the native tensor's
 * largest magnitude.
 */
type Apart = { absolute: number; relative: number };

/**
 * @returns undefined if the native tensor holds NaN or infinity: it decides nothing, and its error does not matter
 * @throws CalibrationError if only the exact tensor holds NaN or infinity: no error then bounds the native decisions
 */
export function apart(name: string, native: DecidingTensor, exact: DecidingTensor): Apart | undefined {
  let [absolute, largest, largestExact] = [0, 0, 0];
  let isFinite = true;
  for (let i = 0; i < native.data.length; i++) {
    const [value, own] = [native.data[i]!, exact.data[i]!];
    if (!Number.isFinite(value)) return undefined;
    if (!Number.isFinite(own)) isFinite = false;
    absolute = Math.max(absolute, Math.abs(value - own));
    largest = Math.max(largest, Math.abs(value));
    largestExact = Math.max(largestExact, Math.abs(own));
  }
  if (!isFinite)
    throw new CalibrationError(
      `${name}: inputs were found for which exact execution gives NaN or infinity and native execution numbers; ` +
        "calibrate on a smaller range of inputs (--range)",
    );
  // A native tensor of zeros decides nothing, whatever the exact tensor holds.
  const scale = largest === 0 ? largestExact : largest;
  return { absolute, relative: scale === 0 ? 0 : absolute / scale };
}
