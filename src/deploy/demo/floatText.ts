import { DType, type DType as DTypeCode } from "../../numerics/dtype.ts";

/**
 * Returns the shortest decimal text that parses back to the same float32; integers stay unchanged.
 * @param word Bits of a float32, or an integer.
 */
export function wordText(word: bigint, dtype: DTypeCode): string {
  if (dtype !== DType.float32) return word.toString();
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, Number(BigInt.asUintN(32, word)));
  const value = view.getFloat32(0);
  for (let digits = 1; digits < 9; digits++) {
    const text = value.toPrecision(digits);
    if (Math.fround(Number(text)) === value) return String(Number(text));
  }
  return String(Number(value.toPrecision(9)));
}
