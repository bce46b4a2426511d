import type { Code } from "../../numerics/kernels/assembler/encoding.ts";
import { select } from "../../numerics/kernels/assembler/control.ts";
import { i32, i64 } from "../../numerics/kernels/assembler/instructions.ts";
import { DType, dtypeBytes, isFloat, isSigned, type DType as DTypeCode } from "../../numerics/dtype.ts";
import { wrapped } from "./integerOperation.ts";
import { floatScalar, isWide } from "./values.ts";

/** A conversion of a scalar; the code is used more than once. */
export function castScalar(from: DTypeCode, to: DTypeCode, a: Code): Code {
  if (from === to) return a;
  if (isFloat(from)) return fromFloat(from, to, a);
  if (to === DType.bool) return isWide(from) ? i64.ne(a, i64.const(0n)) : i32.ne(a, i32.const(0));
  if (isFloat(to)) return toFloat(from, a, floatScalar(to));
  if (isWide(to)) return isWide(from) ? a : widened(from, a);
  return wrapped(to, isWide(from) ? i32.wrapI64(a) : a);
}

/** Extends an integer with at most 32 bits to an i64. */
export const widened = (from: DTypeCode, a: Code): Code =>
  from === DType.uint32 ? i64.extendI32U(a) : i64.extendI32S(a);

function toFloat(from: DTypeCode, a: Code, f: ReturnType<typeof floatScalar>): Code {
  if (from === DType.int64) return f.convertI64S(a);
  if (from === DType.uint64) return f.convertI64U(a);
  return from === DType.uint32 ? f.convertI32U(a) : f.convertI32S(a);
}

/** Truncations of the two floats: NaN to 0, saturated. */
const TRUNCATED = {
  f32: { i64S: i64.truncSatF32S, i64U: i64.truncSatF32U, i32S: i32.truncSatF32S, i32U: i32.truncSatF32U },
  f64: { i64S: i64.truncSatF64S, i64U: i64.truncSatF64U, i32S: i32.truncSatF64S, i32U: i32.truncSatF64U },
};

function fromFloat(from: DTypeCode, to: DTypeCode, a: Code): Code {
  const f = floatScalar(from);
  const truncated = from === DType.float64 ? TRUNCATED.f64 : TRUNCATED.f32;
  switch (to) {
    case DType.bool:
      return f.ne(a, f.const(0));
    case DType.int64:
      return truncated.i64S(a);
    case DType.uint64:
      return truncated.i64U(a);
    case DType.uint32:
      return truncated.i32U(a);
    case DType.int32:
      return truncated.i32S(a);
    default:
      return saturated(to, truncated.i32S(a));
  }
}

/** Clamps an i32 to the range of a type with at most 16 bits. */
function saturated(to: DTypeCode, whole: Code): Code {
  const bits = 8 * dtypeBytes(to);
  const low = i32.const(isSigned(to) ? -(2 ** (bits - 1)) : 0);
  const high = i32.const(isSigned(to) ? 2 ** (bits - 1) - 1 : 2 ** bits - 1);
  const min = select(low, whole, i32.ltS(whole, low));
  return select(high, min, i32.gtS(whole, high));
}
