/** Integers between two that a byte can be with one zero point. */
const BYTE = 255;

/**
 * The zero point with which all of some integers are bytes, that is 0 to 255 once it is added.
 * @returns undefined if there is none.
 */
export function byteZero(values: Int32Array): number | undefined {
  let low = 0;
  let high = 0;
  if (values.length > 0) low = high = values[0]!;
  for (let k = 1; k < values.length; k++) {
    const value = values[k]!;
    if (value < low) low = value;
    else if (value > high) high = value;
  }
  if (high - low > BYTE || low < -BYTE || high > BYTE) return undefined;
  return low < 0 ? -low : 0;
}
