import { DType, type Word } from "../numerics/dtype.ts";

const buffer = new DataView(new ArrayBuffer(4));

/** The float32 word of a number, rounded to nearest. */
export function floatWord(value: number): Word {
  buffer.setFloat32(0, value);
  const bits = BigInt(buffer.getUint32(0));
  return bits === 0x80000000n ? 0n : bits;
}

/** The number that a float32 word stands for. */
export function floatValue(word: Word): number {
  buffer.setUint32(0, Number(word));
  return buffer.getFloat32(0);
}

const SIGNED_BITS = new Map<DType, bigint>([
  [DType.int8, 8n],
  [DType.int16, 16n],
  [DType.int32, 32n],
  [DType.int64, 64n],
]);
const UNSIGNED_BITS = new Map<DType, bigint>([
  [DType.uint8, 8n],
  [DType.uint16, 16n],
  [DType.uint32, 32n],
  [DType.uint64, 64n],
]);

/** The word that loses every maximum of its type: -Infinity, or the least integer. */
export function leastWord(dtype: DType): Word {
  const bits = SIGNED_BITS.get(dtype);
  if (bits !== undefined) return -(1n << (bits - 1n));
  return dtype === DType.float32 ? 0xff800000n : 0n;
}

/** The word that loses every minimum of its type: +Infinity, or the greatest integer. */
export function greatestWord(dtype: DType): Word {
  const signed = SIGNED_BITS.get(dtype);
  if (signed !== undefined) return (1n << (signed - 1n)) - 1n;
  const unsigned = UNSIGNED_BITS.get(dtype);
  if (unsigned !== undefined) return (1n << unsigned) - 1n;
  return dtype === DType.bool ? 1n : 0x7f800000n;
}

/** A number as a word of the type: rounded for float32, exact for integers. */
export const numberWord = (value: number, dtype: DType): Word =>
  dtype === DType.float32 ? floatWord(value) : BigInt(value);
