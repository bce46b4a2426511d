import { DType } from "./dtype.ts";

/**
 * ONNX's element types below eight bits, and the floats of eight bits. They are used for storage: a program holds one
 * byte for each element, the code of a float or the value of an integer, and only the compiler knows the bytes'
 * meaning.
 */
export type NarrowType =
  | "float8e4m3fn"
  | "float8e4m3fnuz"
  | "float8e5m2"
  | "float8e5m2fnuz"
  | "float8e8m0"
  | "float4e2m1"
  | "uint4"
  | "int4"
  | "uint2"
  | "int2";

/** A float whose codes count upwards: `fraction` bits below the exponent, 2^`min` the least normal number. */
export type NarrowFloat = {
  fraction: number;
  min: number;
  /** Its sign bit; 0 if it has none. */
  sign: number;
  /** The code of the greatest finite number. */
  greatest: number;
  /** The codes for infinity and NaN, where the type has any. */
  infinity?: number;
  nan?: number;
  /** Whether the sign bit alone encodes NaN, instead of a negative zero. */
  unsignedZero?: true;
};

type NarrowLayout = {
  /** ONNX's `TensorProto.DataType`. */
  code: number;
  bits: 2 | 4 | 8;
  /** The type of its bytes in a program. */
  storage: typeof DType.uint8 | typeof DType.int8;
  float?: NarrowFloat;
};

const LAYOUTS: Readonly<Record<NarrowType, NarrowLayout>> = {
  float8e4m3fn: {
    code: 17,
    bits: 8,
    storage: DType.uint8,
    float: { fraction: 3, min: -6, sign: 0x80, greatest: 0x7e, nan: 0x7f },
  },
  float8e4m3fnuz: {
    code: 18,
    bits: 8,
    storage: DType.uint8,
    float: { fraction: 3, min: -7, sign: 0x80, greatest: 0x7f, nan: 0x80, unsignedZero: true },
  },
  float8e5m2: {
    code: 19,
    bits: 8,
    storage: DType.uint8,
    float: { fraction: 2, min: -14, sign: 0x80, greatest: 0x7b, infinity: 0x7c, nan: 0x7f },
  },
  float8e5m2fnuz: {
    code: 20,
    bits: 8,
    storage: DType.uint8,
    float: { fraction: 2, min: -15, sign: 0x80, greatest: 0x7f, nan: 0x80, unsignedZero: true },
  },
  uint4: { code: 21, bits: 4, storage: DType.uint8 },
  int4: { code: 22, bits: 4, storage: DType.int8 },
  float4e2m1: {
    code: 23,
    bits: 4,
    storage: DType.uint8,
    float: { fraction: 1, min: 0, sign: 0x08, greatest: 0x07 },
  },
  float8e8m0: {
    code: 24,
    bits: 8,
    storage: DType.uint8,
    float: { fraction: 0, min: -127, sign: 0, greatest: 0xfe, nan: 0xff },
  },
  uint2: { code: 25, bits: 2, storage: DType.uint8 },
  int2: { code: 26, bits: 2, storage: DType.int8 },
};

const BY_CODE = new Map(Object.entries(LAYOUTS).map(([name, { code }]) => [code, name as NarrowType]));

/** The narrow type with ONNX's code, or undefined. */
export const narrowTypeOf = (code: number): NarrowType | undefined => BY_CODE.get(code);

export const narrowLayout = (type: NarrowType): NarrowLayout => LAYOUTS[type];

/** The least and the greatest value of a narrow integer type. */
export function narrowRange(type: NarrowType): readonly [number, number] {
  const { bits, storage } = LAYOUTS[type];
  return storage === DType.int8 ? [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1] : [0, 2 ** bits - 1];
}

/** Returns the number encoded in a byte of a narrow float type. Bits above the type's bits are ignored. */
export function narrowNumber(type: NarrowType, byte: number): number {
  const { float, bits } = LAYOUTS[type];
  const code = byte & (2 ** bits - 1);
  if (float === undefined) return code;
  const { fraction, min, sign, infinity, nan, greatest, unsignedZero } = float;
  if (unsignedZero && code === sign) return NaN;
  const magnitude = code & ~sign;
  const negative = sign !== 0 && (code & sign) !== 0;
  const signed = (value: number): number => (negative ? -value : value);
  if (magnitude === infinity) return signed(Infinity);
  if (magnitude > greatest && nan !== undefined) return NaN;
  // In a type without fraction, the smallest exponent encodes a normal number: the type has no zero.
  if (fraction === 0) return 2 ** (min + magnitude);
  const exponent = magnitude >> fraction;
  const part = magnitude & (2 ** fraction - 1);
  if (exponent === 0) return signed(part * 2 ** (min - fraction));
  return signed((2 ** fraction + part) * 2 ** (min + exponent - 1 - fraction));
}
