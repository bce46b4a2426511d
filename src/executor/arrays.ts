import { canonicalWord, DType, floatFormat, isHalf, type DType as DTypeCode } from "../numerics/dtype.ts";

/**
 * A tensor's elements in the executor: numbers, or bigints for 64-bit integers. A limb takes four bigints, lowest
 * first. 16-bit floats are held as their bits.
 */
export type TensorArray =
  | Float32Array
  | Float64Array
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array;

/** The array class for each element type. */
export const CONSTRUCTORS = {
  [DType.float32]: Float32Array,
  [DType.uint8]: Uint8Array,
  [DType.int8]: Int8Array,
  [DType.uint16]: Uint16Array,
  [DType.int16]: Int16Array,
  [DType.int32]: Int32Array,
  [DType.int64]: BigInt64Array,
  [DType.bool]: Uint8Array,
  [DType.float16]: Uint16Array,
  [DType.float64]: Float64Array,
  [DType.uint32]: Uint32Array,
  [DType.uint64]: BigUint64Array,
  [DType.bfloat16]: Uint16Array,
  [DType.limb]: BigUint64Array,
};

/** The bytes of an array, not copied. */
export const bytesOf = (array: TensorArray): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

/** An aligned array over a tensor's bytes; copied only where their offset is not aligned. */
export function viewOf(bytes: Uint8Array, dtype: DTypeCode): TensorArray {
  const make = CONSTRUCTORS[dtype];
  const size = make.BYTES_PER_ELEMENT;
  const aligned = bytes.byteOffset % size === 0 ? bytes : Uint8Array.from(bytes);
  return new make(aligned.buffer as ArrayBuffer, aligned.byteOffset, aligned.length / size);
}

/** The bits of -0, the largest magnitude, infinity and the only NaN, for a float type with at most 32 bits. */
function edgesOf(dtype: DTypeCode): { negativeZero: number; magnitude: number; infinity: number; nan: number } {
  const { sign, infinity, nan } = floatFormat(dtype);
  return { negativeZero: Number(sign), magnitude: Number(sign) - 1, infinity: Number(infinity), nan: Number(nan) };
}

/** Makes the bits of a float type canonical in place: one zero, one NaN. */
function canonicaliseFloats(bits: Uint32Array | Uint16Array, dtype: DTypeCode): void {
  const { negativeZero, magnitude, infinity, nan } = edgesOf(dtype);
  for (let i = 0; i < bits.length; i++) {
    const word = bits[i]!;
    if ((word & magnitude) > infinity) bits[i] = nan;
    else if (word === negativeZero) bits[i] = 0;
  }
}

function areCanonicalHalves(bits: Uint16Array, dtype: DTypeCode): boolean {
  const { negativeZero, magnitude, infinity, nan } = edgesOf(dtype);
  for (let i = 0; i < bits.length; i++) {
    const word = bits[i]!;
    if (word === negativeZero || ((word & magnitude) > infinity && word !== nan)) return false;
  }
  return true;
}

/** The same of float32, read as signed integers: those are compared faster. */
function areCanonicalFloat32({ buffer, byteOffset, length }: Float32Array): boolean {
  const bits = new Int32Array(buffer, byteOffset, length);
  for (let i = 0; i < bits.length; i++) {
    const word = bits[i]!;
    if (word === -0x80000000 || ((word & 0x7fffffff) > 0x7f800000 && word !== 0x7fc00000)) return false;
  }
  return true;
}

/** The same of float64. */
function areCanonicalFloat64({ buffer, byteOffset, length }: Float64Array): boolean {
  const words = new Int32Array(buffer, byteOffset, 2 * length);
  for (let i = 0; i < words.length; i += 2) {
    const [low, high] = [words[i]!, words[i + 1]!];
    if (high === -0x80000000 && low === 0) return false;
    const magnitude = high & 0x7fffffff;
    const isNaN = magnitude > 0x7ff00000 || (magnitude === 0x7ff00000 && low !== 0);
    if (isNaN && (high !== 0x7ff80000 || low !== 0)) return false;
  }
  return true;
}

function isCanonical(array: TensorArray, dtype: DTypeCode): boolean {
  if (dtype === DType.bool) return (array as Uint8Array).every((byte) => byte <= 1);
  if (isHalf(dtype)) return areCanonicalHalves(array as Uint16Array, dtype);
  if (dtype === DType.float64) return areCanonicalFloat64(array as Float64Array);
  return dtype !== DType.float32 || areCanonicalFloat32(array as Float32Array);
}

/** Returns a tensor's elements in canonical form, the form every read sees. Copies the bytes only if necessary. */
export function readableArray(bytes: Uint8Array, dtype: DTypeCode): TensorArray {
  const array = viewOf(bytes, dtype);
  if (isCanonical(array, dtype)) return array;
  const copy = array.slice();
  if (copy instanceof Float32Array) canonicaliseFloats(float32Bits(copy), dtype);
  else if (copy instanceof Float64Array) {
    const bits = wideBits(copy);
    bits.forEach((word, i) => (bits[i] = canonicalWord(word, dtype)));
  } else if (isHalf(dtype)) canonicaliseFloats(copy as Uint16Array, dtype);
  else (copy as Uint8Array).forEach((byte, i) => (copy[i] = byte === 0 ? 0 : 1));
  return copy;
}

/** The bits of float32 elements, in the same memory. */
export const float32Bits = (array: Float32Array): Uint32Array =>
  new Uint32Array(array.buffer, array.byteOffset, array.length);

const wideBits = (array: Float64Array): BigUint64Array =>
  new BigUint64Array(array.buffer, array.byteOffset, array.length);
