import { DType, dtypeBytes, isFloat, isSigned, type DType as DTypeCode } from "../../numerics/dtype.ts";
import { Op, signature, type OpName } from "../../program/operations.ts";

const isWide = (dtype: DTypeCode): boolean => dtype === DType.int64 || dtype === DType.uint64;

/** JavaScript that takes an integer expression modulo 2^bits into the range of its type. */
function wrapped(dtype: DTypeCode, e: string): string {
  switch (dtype) {
    case DType.int64:
      return `BigInt.asIntN(64, ${e})`;
    case DType.uint64:
      return `BigInt.asUintN(64, ${e})`;
    case DType.uint32:
      return `((${e}) >>> 0)`;
    case DType.int32:
      return `((${e}) | 0)`;
    default: {
      const unused = 32 - 8 * dtypeBytes(dtype);
      return isSigned(dtype) ? `((${e}) << ${unused} >> ${unused})` : `((${e}) & ${2 ** (32 - unused) - 1})`;
    }
  }
}

/**
 * float32 operations in float64, rounded once more by `fround`: correctly rounded for + - * / and sqrt (53 >= 2*24 + 2). Operands
 * are never -0, and `+ 0` keeps results from being one.
 */
const FLOAT: Partial<Record<OpName, (a: string, b: string) => string>> = {
  add: (a, b) => `fround(${a} + ${b})`,
  sub: (a, b) => `fround(${a} - ${b})`,
  mul: (a, b) => `(fround(${a} * ${b}) + 0)`,
  div: (a, b) => `(fround(${a} / ${b}) + 0)`,
  fmod: (a, b) => `(${a} % ${b} + 0)`,
  min: (a, b) => `Math.min(${a}, ${b})`,
  max: (a, b) => `Math.max(${a}, ${b})`,
  pow: (a, b) => `h.pow(${a}, ${b})`,
  neg: (a) => `(0 - ${a})`,
  abs: (a) => `Math.abs(${a})`,
  sign: (a) => `(${a} !== ${a} ? ${a} : ${a} > 0 ? 1 : ${a} < 0 ? -1 : 0)`,
  sqrt: (a) => `fround(Math.sqrt(${a}))`,
  floor: (a) => `Math.floor(${a})`,
  ceil: (a) => `(Math.ceil(${a}) + 0)`,
  round: (a) => `h.round(${a})`,
  isNaN: (a) => `(${a} !== ${a} ? 1 : 0)`,
  isInf: (a) => `(Math.abs(${a}) === Infinity ? 1 : 0)`,
  exp: (a) => `h.exp(${a})`,
  log: (a) => `h.log(${a})`,
  tanh: (a) => `h.tanh(${a})`,
  sigmoid: (a) => `h.sigmoid(${a})`,
  erf: (a) => `h.erf(${a})`,
  expm1: (a) => `h.expm1(${a})`,
  log1p: (a) => `h.log1p(${a})`,
  sin: (a) => `h.sin(${a})`,
  cos: (a) => `h.cos(${a})`,
  tan: (a) => `h.tan(${a})`,
  asin: (a) => `h.asin(${a})`,
  acos: (a) => `h.acos(${a})`,
  atan: (a) => `h.atan(${a})`,
  sinh: (a) => `h.sinh(${a})`,
  cosh: (a) => `h.cosh(${a})`,
  asinh: (a) => `h.asinh(${a})`,
  acosh: (a) => `h.acosh(${a})`,
  atanh: (a) => `h.atanh(${a})`,
};

const COMPARISON: Partial<Record<OpName, string>> = { eq: "===", lt: "<", le: "<=" };
const INFIX: Partial<Record<OpName, string>> = { add: "+", sub: "-", and: "&", or: "|", xor: "^" };

function integerOperation(name: OpName, dtype: DTypeCode, a: string, b: string): string {
  const n = isWide(dtype) ? "n" : "";
  const wrap = (e: string): string => wrapped(dtype, e);
  const infix = INFIX[name];
  if (infix !== undefined) return wrap(`${a} ${infix} ${b}`);
  switch (name) {
    case "mul":
      return wrap(isWide(dtype) ? `${a} * ${b}` : `Math.imul(${a}, ${b})`);
    case "div":
      return `(${b} === 0${n} ? 0${n} : ${wrap(`${a} / ${b}`)})`;
    case "mod":
      return `(${b} === 0${n} ? 0${n} : ${wrap(`(${a} % ${b} + ${b}) % ${b}`)})`;
    case "fmod":
      return `(${b} === 0${n} ? 0${n} : ${wrap(`${a} % ${b}`)})`;
    case "min":
      return `(${a} < ${b} ? ${a} : ${b})`;
    case "max":
      return `(${a} > ${b} ? ${a} : ${b})`;
    case "neg":
      return wrap(`-${a}`);
    case "abs":
      return wrap(`${a} < 0${n} ? -${a} : ${a}`);
    case "sign":
      return `(${a} > 0${n} ? 1${n} : ${a} < 0${n} ? -1${n} : 0${n})`;
    case "not":
      return dtype === DType.bool ? `(1 - ${a})` : wrap(`~${a}`);
    default: {
      const shift = name === "shl" ? "<<" : isSigned(dtype) || isWide(dtype) ? ">>" : ">>>";
      const inRange = `${b} < 0${n} || ${b} >= ${8 * dtypeBytes(dtype)}${n}`;
      return `(${inRange} ? 0${n} : ${wrap(`${a} ${shift} ${b}`)})`;
    }
  }
}

/** JavaScript of one operation on slots `a`, `b`, `c` (names, not expressions). */
export function operationSource(op: Op, dtype: DTypeCode, a: string, b: string, c: string): string {
  if (op === Op.select) return `(${a} !== 0 ? ${b} : ${c})`;
  const name = signature(op)!.name;
  const comparison = COMPARISON[name];
  if (comparison !== undefined) return `(${a} ${comparison} ${b} ? 1 : 0)`;
  return isFloat(dtype) ? FLOAT[name]!(a, b) : integerOperation(name, dtype, a, b);
}

/** JavaScript of a conversion of slot `a`. */
export function castSource(from: DTypeCode, to: DTypeCode, a: string): string {
  if (from === to) return a;
  if (to === DType.bool) return `(${a} != 0 ? 1 : 0)`;
  if (isFloat(from)) return isWide(to) ? `h.toWide(${a}, ${to})` : saturated(to, a);
  if (isFloat(to)) return isWide(from) ? `h.fromWide(${a}, ${from})` : `fround(${a})`;
  if (isWide(to)) return wrapped(to, isWide(from) ? a : `BigInt(${a})`);
  return isWide(from) ? `Number(${wrappedWide(to, a)})` : wrapped(to, a);
}

function wrappedWide(to: DTypeCode, a: string): string {
  return `BigInt.${isSigned(to) ? "asIntN" : "asUintN"}(${8 * dtypeBytes(to)}, ${a})`;
}

/** Truncated, NaN to 0, saturated. */
function saturated(to: DTypeCode, a: string): string {
  const bits = 8 * dtypeBytes(to);
  const low = isSigned(to) ? -(2 ** (bits - 1)) : 0;
  const high = isSigned(to) ? 2 ** (bits - 1) - 1 : 2 ** bits - 1;
  return `(${a} !== ${a} ? 0 : ${a} <= ${low} ? ${low} : ${a} >= ${high} ? ${high} : Math.trunc(${a}) + 0)`;
}
