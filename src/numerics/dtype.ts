import { BFLOAT16, FLOAT16, FLOAT32, FLOAT64, type FloatFormat } from "./format.ts";

/**
 * Element types, with the codes of ONNX's `TensorProto.DataType`: a type byte means the same in a model, in an encoded
 * step and on chain. Refute adds the limb, a 256-bit word from an unfinished exact sum.
 */
export const DType = {
  float32: 1,
  uint8: 2,
  int8: 3,
  uint16: 4,
  int16: 5,
  int32: 6,
  int64: 7,
  bool: 9,
  float16: 10,
  float64: 11,
  uint32: 12,
  uint64: 13,
  bfloat16: 16,
  limb: 0xa0,
} as const;

export type DTypeName = keyof typeof DType;
export type DType = (typeof DType)[DTypeName];

type Layout = {
  name: DTypeName;
  bytes: number;
  kind: "float" | "signed" | "unsigned" | "bool" | "limb";
  format?: FloatFormat;
};

const LAYOUTS: Record<number, Layout> = {
  1: { name: "float32", bytes: 4, kind: "float", format: FLOAT32 },
  2: { name: "uint8", bytes: 1, kind: "unsigned" },
  3: { name: "int8", bytes: 1, kind: "signed" },
  4: { name: "uint16", bytes: 2, kind: "unsigned" },
  5: { name: "int16", bytes: 2, kind: "signed" },
  6: { name: "int32", bytes: 4, kind: "signed" },
  7: { name: "int64", bytes: 8, kind: "signed" },
  9: { name: "bool", bytes: 1, kind: "bool" },
  10: { name: "float16", bytes: 2, kind: "float", format: FLOAT16 },
  11: { name: "float64", bytes: 8, kind: "float", format: FLOAT64 },
  12: { name: "uint32", bytes: 4, kind: "unsigned" },
  13: { name: "uint64", bytes: 8, kind: "unsigned" },
  16: { name: "bfloat16", bytes: 2, kind: "float", format: BFLOAT16 },
  160: { name: "limb", bytes: 32, kind: "limb" },
};

/** Returns whether a step's tensor may have the type `code`. */
export function isElementType(code: number): code is DType {
  return code in LAYOUTS;
}

/** Returns whether Refute executes models with element type `code`: all types but limbs. */
export function isDType(code: number): code is DType {
  return isElementType(code) && code !== DType.limb;
}

function layout(dtype: DType): Layout {
  return LAYOUTS[dtype]!;
}

export const dtypeName = (dtype: DType): DTypeName => layout(dtype).name;
/** Bytes of one element. Every size divides the 512-byte chunk, so no element crosses a chunk. */
export const dtypeBytes = (dtype: DType): number => layout(dtype).bytes;
export const isFloat = (dtype: DType): boolean => layout(dtype).kind === "float";
/** Whether a type is a float of 16 bits: its values are float32 values too. */
export const isHalf = (dtype: DType): boolean => dtype === DType.float16 || dtype === DType.bfloat16;
/** The format of a float type. */
export const floatFormat = (dtype: DType): FloatFormat => layout(dtype).format!;
export const isSigned = (dtype: DType): boolean => layout(dtype).kind === "signed";
export const isInteger = (dtype: DType): boolean =>
  layout(dtype).kind === "signed" || layout(dtype).kind === "unsigned";

/**
 * A *word* means one element in bigint form, equal to the EVM verifier's number: floats by their bits (float32: 0 ..
 * 2^32-1), integers by value (negative for signed types), bools by 0n or 1n, limbs by their 256 bits.
 */
export type Word = bigint;

/** One zero, one NaN: -0 becomes +0 and every NaN becomes the type's one; a bool byte other than 0 is 1. */
export function canonicalWord(raw: bigint, dtype: DType): Word {
  const { kind, format } = layout(dtype);
  if (format !== undefined) {
    if (raw === format.sign) return 0n;
    return (raw & (format.sign - 1n)) > format.infinity ? format.nan : raw;
  }
  return kind === "bool" ? (raw === 0n ? 0n : 1n) : raw;
}

/** Reads element `index` of a little-endian tensor, canonicalised. */
export function readWord(bytes: Uint8Array, index: number, dtype: DType): Word {
  const size = dtypeBytes(dtype);
  const at = index * size;
  if (index < 0 || at + size > bytes.length)
    throw new RangeError(`element ${index} is outside a tensor of ${bytes.length / size} elements`);
  let raw = 0n;
  for (let k = size - 1; k >= 0; k--) raw = (raw << 8n) | BigInt(bytes[at + k]!);
  return canonicalWord(isSigned(dtype) ? BigInt.asIntN(size * 8, raw) : raw, dtype);
}

/** Writes a word as element `index`, little-endian. */
export function writeWord(bytes: Uint8Array, index: number, dtype: DType, word: Word): void {
  const size = dtypeBytes(dtype);
  let raw = BigInt.asUintN(size * 8, word);
  // Only few operations use bigints, which are slow. Storing a byte drops the bits above.
  for (let k = 0; k < size; k += 4, raw >>= 32n) {
    const low = Number(raw & 0xffffffffn);
    const end = Math.min(size - k, 4);
    for (let byte = 0; byte < end; byte++) bytes[index * size + k + byte] = low >>> (8 * byte);
  }
}
