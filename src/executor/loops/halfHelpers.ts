import { convert } from "../../numerics/arithmetic.ts";
import { DType, dtypeName, type DType as DTypeCode, type Word } from "../../numerics/dtype.ts";
import { fromNumber, toNumber } from "../../numerics/float32.ts";
import { applyOperation } from "../../program/expression.ts";
import { halfBits } from "../halfBits.ts";
import { Op, type OpName } from "../../program/operations.ts";

const UNARY = ["exp", "log", "tanh", "sigmoid", "erf", "expm1", "log1p", "sin", "cos", "tan"] as const;
const MORE = ["asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh"] as const;
const MAX_POWERS = 2 ** 20;

type Helper = (x: number, y: number) => number;

/** The name by which generated loops call a 16-bit type's elementary function. */
export const halfName = (name: OpName, dtype: DTypeCode): string => `${name}_${dtypeName(dtype)}`;

const exactly = (name: OpName, dtype: DTypeCode, x: number, y: number): number => {
  const word = (operand: number): Word => convert(fromNumber(operand), DType.float32, dtype);
  return toNumber(convert(applyOperation(Op[name], dtype, word(x), word(y), 0n), dtype, DType.float32));
};

/** Caches the definition's result for each of the 2^16 operands, called once for each operand that occurs. */
function tabulated(name: OpName, dtype: DTypeCode): Helper {
  const results = new Float32Array(2 ** 16);
  const known = new Uint8Array(2 ** 16);
  return (x) => {
    const at = halfBits(x, dtype);
    if (known[at] === 0) {
      results[at] = exactly(name, dtype, x, 0);
      known[at] = 1;
    }
    return results[at]!;
  };
}

/** The definition of powers; results are kept, and dropped when there are too many. */
function powers(dtype: DTypeCode): Helper {
  const known = new Map<number, number>();
  return (x, y) => {
    if (y === 1) return x;
    const key = halfBits(x, dtype) * 2 ** 16 + halfBits(y, dtype);
    let result = known.get(key);
    if (result === undefined) {
      result = exactly("pow", dtype, x, y);
      if (known.size >= MAX_POWERS) known.clear();
      known.set(key, result);
    }
    return result;
  };
}

/** The elementary functions of both types, by {@link halfName}. */
export const HALF_HELPERS: Readonly<Record<string, Helper>> = Object.fromEntries(
  [DType.float16, DType.bfloat16].flatMap((dtype) => [
    [halfName("pow", dtype), powers(dtype)] as const,
    ...[...UNARY, ...MORE].map((name) => [halfName(name, dtype), tabulated(name, dtype)] as const),
  ]),
);
