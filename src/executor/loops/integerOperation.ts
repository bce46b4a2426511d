import { ifElse, select } from "../../numerics/kernels/assembler/control.ts";
import type { Code } from "../../numerics/kernels/assembler/encoding.ts";
import type { FunctionBuilder } from "../../numerics/kernels/assembler/functionBuilder.ts";
import { i32, i64 } from "../../numerics/kernels/assembler/instructions.ts";
import { DType, dtypeBytes, isSigned, type DType as DTypeCode } from "../../numerics/dtype.ts";
import type { OpName } from "../../program/operations.ts";
import { isWide, scalarType } from "./values.ts";

/** Wraps an i32 modulo 2^bits to its type's range. */
export function wrapped(dtype: DTypeCode, code: Code): Code {
  switch (dtype) {
    case DType.int8:
      return i32.extend8S(code);
    case DType.int16:
      return i32.extend16S(code);
    case DType.uint8:
      return i32.and(code, i32.const(0xff));
    case DType.uint16:
      return i32.and(code, i32.const(0xffff));
    default:
      return code;
  }
}

/** Returns true for types compared and divided as unsigned WebAssembly numbers. */
const isUnsigned = (dtype: DTypeCode): boolean => dtype === DType.uint32 || dtype === DType.uint64;

/** One operation on integers or bools (docs/program.md); operands are used more than once. */
export function integerOperation(name: OpName, dtype: DTypeCode, a: Code, b: Code, fn: FunctionBuilder): Code {
  const wide = isWide(dtype);
  const type = scalarType(dtype);
  const int = wide ? i64 : i32;
  const number = (value: number): Code => (wide ? i64.const(BigInt(value)) : i32.const(value));
  const wrap = (code: Code): Code => wrapped(dtype, code);
  const unsigned = isUnsigned(dtype);
  const less = unsigned ? int.ltU : int.ltS;
  /** An i32 truth value in this type. */
  const truth = (code: Code): Code => (wide ? i64.extendI32U(code) : code);
  const unlessZero = (code: Code): Code => ifElse(int.eqz(b), number(0), code, type);

  switch (name) {
    case "add":
      return wrap(int.add(a, b));
    case "sub":
      return wrap(int.sub(a, b));
    case "mul":
      return wrap(int.mul(a, b));
    case "div": {
      if (unsigned) return unlessZero(int.divU(a, b));
      // The division of the smallest value by -1 traps: a negation does the same, modulo 2^bits.
      const quotient = ifElse(int.eq(b, number(-1)), int.sub(number(0), a), int.divS(a, b), type);
      return wrap(unlessZero(quotient));
    }
    case "fmod":
      return unlessZero((unsigned ? int.remU : int.remS)(a, b));
    case "mod": {
      if (unsigned) return unlessZero(int.remU(a, b));
      const rest = fn.local(type);
      // Nonzero and of another sign than the divisor.
      const differs = int.ltS(int.xor(rest.tee(int.remS(a, b)), b), number(0));
      const nonzero = int.ne(rest.get, number(0));
      return unlessZero([ifElse(i32.and(differs, nonzero), int.add(rest.get, b), rest.get, type)]);
    }
    case "min":
      return select(a, b, less(a, b));
    case "max":
      return select(b, a, less(a, b));
    case "neg":
      return wrap(int.sub(number(0), a));
    case "abs":
      return isSigned(dtype) ? wrap(select(int.sub(number(0), a), a, int.ltS(a, number(0)))) : a;
    case "sign":
      if (!isSigned(dtype)) return truth(int.ne(a, number(0)));
      return int.sub(truth(int.gtS(a, number(0))), truth(int.ltS(a, number(0))));
    case "eq":
      return int.eq(a, b);
    case "lt":
      return less(a, b);
    case "le":
      return (unsigned ? int.leU : int.leS)(a, b);
    case "and":
      return int.and(a, b);
    case "or":
      return int.or(a, b);
    case "xor":
      return int.xor(a, b);
    case "not":
      return dtype === DType.bool ? i32.eqz(a) : wrap(int.xor(a, number(-1)));
    default: {
      // A negative count is a large one.
      const inRange = int.ltU(b, number(8 * dtypeBytes(dtype)));
      const shift = name === "shl" ? int.shl : isSigned(dtype) ? int.shrS : int.shrU;
      return ifElse(inRange, wrap(shift(a, b)), number(0), type);
    }
  }
}
