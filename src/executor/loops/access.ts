import type { Code } from "../../numerics/kernels/assembler/encoding.ts";
import {
  f32,
  f32x4,
  i16x8,
  i32,
  i32x4,
  i64,
  i64x2,
  f64,
  f64x2,
  v128,
  i8x16,
} from "../../numerics/kernels/assembler/instructions.ts";
import { DType, dtypeBytes, isSigned, type DType as DTypeCode } from "../../numerics/dtype.ts";

/** Loads an element. @param memory The number of the memory. */
export function loadScalar(dtype: DTypeCode, address: Code, offset: number, memory: number): Code {
  switch (dtype) {
    case DType.float32:
      return f32.load(address, offset, memory);
    case DType.float64:
      return f64.load(address, offset, memory);
    case DType.int64:
    case DType.uint64:
      return i64.load(address, offset, memory);
    case DType.int32:
    case DType.uint32:
      return i32.load(address, offset, memory);
    case DType.int16:
      return i32.load16S(address, offset, memory);
    case DType.uint16:
      return i32.load16U(address, offset, memory);
    case DType.int8:
      return i32.load8S(address, offset, memory);
    default:
      return i32.load8U(address, offset, memory);
  }
}

/** Loads LANES consecutive elements with at most 32 bits each. */
export function loadVector(dtype: DTypeCode, address: Code, memory: number): Code {
  const bytes = dtypeBytes(dtype);
  if (bytes === 4) return v128.load(address, 0, memory);
  if (bytes === 2) return isSigned(dtype) ? v128.load16x4S(address, 0, memory) : v128.load16x4U(address, 0, memory);
  const four = v128.load32Zero(address, 0, memory);
  if (dtype === DType.int8) return i32x4.extendLowI16S(i16x8.extendLowI8S(four));
  const lanes = i32x4.extendLowI16U(i16x8.extendLowI8U(four));
  return dtype === DType.bool ? i32x4.ne(lanes, i32x4.splat(i32.const(0))) : lanes;
}

/** Stores an element. */
export function storeScalar(dtype: DTypeCode, address: Code, value: Code): Code {
  if (dtype === DType.float32) return f32.store(address, value);
  if (dtype === DType.float64) return f64.store(address, value);
  switch (dtypeBytes(dtype)) {
    case 8:
      return i64.store(address, value);
    case 4:
      return i32.store(address, value);
    case 2:
      return i32.store16(address, value);
    default:
      return i32.store8(address, value);
  }
}

/** Stores LANES elements one after the other; each is in the range of its type. */
export function storeVector(dtype: DTypeCode, address: Code, value: Code): Code {
  const bytes = dtypeBytes(dtype);
  if (bytes === 4) return v128.store(address, value);
  const signed = isSigned(dtype);
  const sixteens = (signed || bytes === 1 ? i16x8.narrowS : i16x8.narrowU)(value, value);
  if (bytes === 2) return i64.store(address, i64x2.extract(sixteens, 0));
  // A mask as bytes of all ones.
  const eights = (signed || dtype === DType.bool ? i8x16.narrowS : i8x16.narrowU)(sixteens, sixteens);
  const word = i32x4.extract(eights, 0);
  return i32.store(address, dtype === DType.bool ? i32.and(word, i32.const(0x01010101)) : word);
}

const UPPER_HALF = [8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15];

/** Widens the upper two lanes of a float32 vector to float64. The code of `value` appears twice. */
export const promoteHigh = (value: Code): Code => f64x2.promoteLowF32(v128.shuffle(value, value, UPPER_HALF));

/** Stores a float32 as a float64. */
export const storeWidened = (address: Code, value: Code): Code => f64.store(address, f64.promoteF32(value));

/** Stores LANES float32 as float64; the code is used more than once. */
export const storeWidenedVector = (address: Code, value: Code): Code => [
  v128.store(address, f64x2.promoteLowF32(value)),
  v128.store(address, promoteHigh(value), 16),
];

/** One lane as a scalar. */
export function extractLane(dtype: DTypeCode, value: Code, lane: number): Code {
  if (dtype === DType.float32) return f32x4.extract(value, lane);
  const word = i32x4.extract(value, lane);
  return dtype === DType.bool ? i32.and(word, i32.const(1)) : word;
}
