import type { Code } from "../../numerics/kernels/assembler/encoding.ts";
import { f32, f64, i32, i64 } from "../../numerics/kernels/assembler/instructions.ts";
import { convert } from "../../numerics/arithmetic.ts";
import { DType, isFloat, type DType as DTypeCode, type Word } from "../../numerics/dtype.ts";
import { isWide } from "./values.ts";

/** A word as a constant. */
export function literal(word: Word, dtype: DTypeCode): Code {
  if (dtype === DType.float64) return f64.reinterpretI64(i64.const(word));
  if (isFloat(dtype)) return f32.constBits(Number(convert(word, dtype, DType.float32)));
  return isWide(dtype) ? i64.const(BigInt(word)) : i32.const(Number(BigInt.asIntN(32, word)));
}
