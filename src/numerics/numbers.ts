import { convert } from "./arithmetic.ts";
import { DType, floatFormat, isFloat, type Word } from "./dtype.ts";

const buffer = new DataView(new ArrayBuffer(8));

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

/** The least word of a type: -Infinity, or the minimum integer. */
export function minWord(dtype: DType): Word {
  const bits = SIGNED_BITS.get(dtype);
  if (bits !== undefined) return -(1n << (bits - 1n));
  if (!isFloat(dtype)) return 0n;
  const { sign, infinity } = floatFormat(dtype);
  return sign | infinity;
}

/** The greatest word of a type: +Infinity, or the maximum integer. */
export function greatestWord(dtype: DType): Word {
  const signed = SIGNED_BITS.get(dtype);
  if (signed !== undefined) return (1n << (signed - 1n)) - 1n;
  const unsigned = UNSIGNED_BITS.get(dtype);
  if (unsigned !== undefined) return (1n << unsigned) - 1n;
  return isFloat(dtype) ? floatFormat(dtype).infinity : 1n;
}

/** A number as a word of the type: rounded once for floats, exact for integers. */
export function numberWord(value: number, dtype: DType): Word {
  if (!isFloat(dtype)) return BigInt(value);
  buffer.setFloat64(0, value);
  return convert(buffer.getBigUint64(0), DType.float64, dtype);
}

/** Returns the number encoded in a word of a float type. */
export function wordNumber(word: Word, dtype: DType): number {
  buffer.setBigUint64(0, convert(word, dtype, DType.float64));
  return buffer.getFloat64(0);
}
