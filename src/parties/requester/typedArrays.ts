import { DType, dtypeBytes, type DTypeName } from "../../numerics/dtype.ts";

/** The elements of a tensor: numbers, or bigints for types of 64 bits. Booleans are 0 and 1. */
export type TensorData =
  | Float32Array
  | Float64Array
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array;

type ArrayType = new (buffer: ArrayBuffer) => TensorData;

/** The array classes whose elements match a type's byte layout. */
const ARRAYS: Partial<Record<DTypeName, ArrayType>> = {
  float32: Float32Array,
  float64: Float64Array,
  int8: Int8Array,
  uint8: Uint8Array,
  bool: Uint8Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int64: BigInt64Array,
  uint64: BigUint64Array,
};

/** Bytes of an element. */
export const bytesPerElement = (dtype: DTypeName): number => dtypeBytes(DType[dtype]);

/**
 * Returns a tensor's elements. 16-bit floats become float32, which represents all 16-bit values.
 * @param bytes Little-endian.
 */
export function elementsIn(bytes: Uint8Array, dtype: DTypeName): TensorData {
  const buffer = Uint8Array.from(bytes).buffer;
  const array = ARRAYS[dtype];
  if (array !== undefined) return new array(buffer);
  const toNumber = dtype === "bfloat16" ? bfloat16Number : float16Number;
  return Float32Array.from(new Uint16Array(buffer), toNumber);
}

/** Returns true if an array holds a type's elements in their byte layout; 16-bit floats use a Uint16Array. */
export const holds = (data: TensorData, dtype: DTypeName): boolean => data instanceof (ARRAYS[dtype] ?? Uint16Array);

/** Returns the name of the array class for a type's elements. */
export const arrayName = (dtype: DTypeName): string => (ARRAYS[dtype] ?? Uint16Array).name;

const word = new Uint32Array(1);
const float = new Float32Array(word.buffer);

function bfloat16Number(bits: number): number {
  word[0] = bits << 16;
  return float[0]!;
}

function float16Number(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1024 + fraction) * 2 ** (exponent - 25);
}
