import { DType, floatFormat, type Word } from "./dtype.ts";
import { convertWord, floatArithmetic, type FloatArithmetic } from "./float.ts";
import { FLOAT32_ARITHMETIC } from "./float32.ts";
import { FLOAT64_ARITHMETIC } from "./float64.ts";

const ARITHMETIC = new Map<DType, FloatArithmetic>([
  [DType.float32, FLOAT32_ARITHMETIC],
  [DType.float64, FLOAT64_ARITHMETIC],
  ...[DType.float16, DType.bfloat16].map((dtype) => [dtype, floatArithmetic(floatFormat(dtype))] as const),
]);

/** The primitives of a float type. */
export const arithmeticOf = (dtype: DType): FloatArithmetic => ARITHMETIC.get(dtype)!;

/**
 * Converts a word between float types, rounded once; exact if the target type contains all values of the source type.
 */
export const convert = (a: Word, from: DType, to: DType): Word => convertWord(a, arithmeticOf(from), floatFormat(to));
