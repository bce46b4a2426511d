import type { Code } from "../../kernels/assembler/encoding.ts";
import { select } from "../../kernels/assembler/control.ts";
import { f32, f64, i32, i64 } from "../../kernels/assembler/instructions.ts";
import { DType, dtypeBytes, isFloat, isSigned, type DType as DTypeCode } from "../../numerics/dtype.ts";
import { wrapped } from "./integerOperation.ts";
import { floatScalar, isWide } from "./values.ts";

/** A conversion of a scalar; the code is used more than once. */
export function castScalar(from: DTypeCode, to: DTypeCode, a: Code): Code {
  if (from === to) return a;
  if (isFloat(from)) return from === DType.float64 ? fromFloat64(to, a) : fromFloat(to, a);
  if (to === DType.bool) return isWide(from) ? i64.ne(a, i64.const(0n)) : i32.ne(a, i32.const(0));
  if (isFloat(to)) return toFloat(from, a, floatScalar(to));
  if (isWide(to)) return isWide(from) ? a : widened(from, a);
  return wrapped(to, isWide(from) ? i32.wrapI64(a) : a);
}

/** The value of an integer of at most 32 bits as an i64. */
export const widened = (from: DTypeCode, a: Code): Code =>
  from === DType.uint32 ? i64.extendI32U(a) : i64.extendI32S(a);

function toFloat(from: DTypeCode, a: Code, f: ReturnType<typeof floatScalar>): Code {
  if (from === DType.int64) return f.convertI64S(a);
  if (from === DType.uint64) return f.convertI64U(a);
  return from === DType.uint32 ? f.convertI32U(a) : f.convertI32S(a);
}

/** Truncated, NaN to 0, saturated. */
function fromFloat(to: DTypeCode, a: Code): Code {
  switch (to) {
    case DType.bool:
      return f32.ne(a, f32.const(0));
    case DType.int64:
      return i64.truncSatF32S(a);
    case DType.uint64:
      return i64.truncSatF32U(a);
    case DType.uint32:
      return i32.truncSatF32U(a);
    case DType.int32:
      return i32.truncSatF32S(a);
    default:
      return saturated(to, i32.truncSatF32S(a));
  }
}

/** The same of float64. */
function fromFloat64(to: DTypeCode, a: Code): Code {
  switch (to) {
    case DType.bool:
      return f64.ne(a, f64.const(0));
    case DType.int64:
      return i64.truncSatF64S(a);
    case DType.uint64:
      return i64.truncSatF64U(a);
    case DType.uint32:
      return i32.truncSatF64U(a);
    case DType.int32:
      return i32.truncSatF64S(a);
    default:
      return saturated(to, i32.truncSatF64S(a));
  }
}

/** An i32, cut to the range of a type of at most 16 bits. */
function saturated(to: DTypeCode, whole: Code): Code {
  const bits = 8 * dtypeBytes(to);
  const low = i32.const(isSigned(to) ? -(2 ** (bits - 1)) : 0);
  const high = i32.const(isSigned(to) ? 2 ** (bits - 1) - 1 : 2 ** bits - 1);
  const least = select(low, whole, i32.ltS(whole, low));
  return select(high, least, i32.gtS(whole, high));
}
