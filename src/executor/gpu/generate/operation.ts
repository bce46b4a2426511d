import { DType, dtypeBytes, isFloat, isSigned, type DType as DTypeCode } from "../../../numerics/dtype.ts";
import { isElementary, Op, signature, type OpName } from "../../../program/operations.ts";
import type { Instruction } from "../../../program/types.ts";
import { formatOf, isWide, widened, wrapped } from "./slots.ts";

/** The result type of an instruction. */
export function resultType({ op, dtype, b }: Instruction): DTypeCode {
  if (op === Op.digit) return DType.int64;
  if (op === Op.cast) return b as DTypeCode;
  return signature(op)!.bool === true ? DType.bool : dtype;
}

/** The text of an operation on slots. Callers exclude functions of float64. */
export function operationText({ op, dtype, b }: Instruction, [x, y, z]: readonly string[]): string {
  if (op === Op.select) return `select(${z!}, ${y!}, ${x!} != 0u)`;
  if (op === Op.cast) return castText(x!, dtype, b as DTypeCode);
  const { name } = signature(op)!;
  if (isFloat(dtype)) return floatText(name, dtype, op, x!, y);
  return isWide(dtype) ? wideText(name, dtype, x!, y!) : wrapped(narrowText(name, dtype, x!, y!), dtype);
}

const bool = (condition: string): string => `select(0u, 1u, ${condition})`;

/** Operations of floats that round. */
const ROUNDING = new Set<OpName>(["add", "sub", "mul", "div", "sqrt"]);
const INTEGRAL: Partial<Record<OpName, string>> = { floor: "0u", ceil: "1u", round: "2u" };

function floatText(name: OpName, dtype: DTypeCode, op: Op, x: string, y?: string): string {
  const suffix = dtype === DType.float64 ? "d" : "f";
  const operands = signature(op)!.arity === 1 ? x : `${x}, ${y!}`;
  if (isElementary(op)) return `f_${name}(${formatOf(dtype)}, ${operands})`;
  if (INTEGRAL[name] !== undefined) return `integral${suffix}(${x}, ${INTEGRAL[name]})`;
  if (name === "isNaN" || name === "isInf") return bool(`${name}${suffix}(${x})`);
  return `${name}${suffix}(${ROUNDING.has(name) && suffix === "f" ? `${formatOf(dtype)}, ` : ""}${operands})`;
}

function wideText(name: OpName, dtype: DTypeCode, x: string, y: string): string {
  const signed = isSigned(dtype);
  const less = (a: string, b: string): string => `${signed ? "slt64" : "lt64"}(${a}, ${b})`;
  switch (name) {
    case "add":
    case "sub":
    case "mul":
      return `${name}64(${x}, ${y})`;
    case "div":
      return signed ? `sdiv64(${x}, ${y})` : `divide64(${x}, ${y}).q`;
    case "mod":
    case "fmod":
      return signed ? `s${name}64(${x}, ${y})` : `divide64(${x}, ${y}).r`;
    case "min":
      return `select(${x}, ${y}, ${less(y, x)})`;
    case "max":
      return `select(${x}, ${y}, ${less(x, y)})`;
    case "neg":
      return `neg64(${x})`;
    case "abs":
      return signed ? `abs64(${x})` : x;
    case "sign": {
      const positive = `select(vec2u(1u, 0u), vec2u(0u), all(${x} == vec2u(0u)))`;
      return signed ? `select(${positive}, vec2u(0xffffffffu), below64(${x}))` : positive;
    }
    case "eq":
      return bool(`all(${x} == ${y})`);
    case "lt":
      return bool(less(x, y));
    case "le":
      return bool(`!${less(y, x)}`);
    case "shl":
    case "shr": {
      const shift = name === "shl" ? "shl64" : signed ? "sar64" : "shr64";
      return `select(vec2u(0u), ${shift}(${x}, ${y}.x), lt64(${y}, vec2u(64u, 0u)))`;
    }
    default:
      return bitText(name, dtype, x, y);
  }
}

function narrowText(name: OpName, dtype: DTypeCode, x: string, y: string): string {
  const signed = isSigned(dtype);
  const less = (a: string, b: string): string => (signed ? `slt32(${a}, ${b})` : `(${a} < ${b})`);
  switch (name) {
    case "add":
      return `${x} + ${y}`;
    case "sub":
      return `${x} - ${y}`;
    case "mul":
      return `${x} * ${y}`;
    case "div":
    case "mod":
    case "fmod":
      return signed ? `s${name}32(${x}, ${y})` : `u${name === "div" ? "div" : "mod"}32(${x}, ${y})`;
    case "min":
      return `select(${x}, ${y}, ${less(y, x)})`;
    case "max":
      return `select(${x}, ${y}, ${less(x, y)})`;
    case "neg":
      return `0u - ${x}`;
    case "abs":
      return signed ? `abs32(${x})` : x;
    case "sign":
      return signed ? `select(${bool(`${x} != 0u`)}, 0xffffffffu, below32(${x}))` : bool(`${x} != 0u`);
    case "eq":
      return bool(`${x} == ${y}`);
    case "lt":
      return bool(less(x, y));
    case "le":
      return bool(`!${less(y, x)}`);
    case "shl":
    case "shr": {
      const shift = `(${y} & 31u)`;
      const right = signed ? `bitcast<u32>(bitcast<i32>(${x}) >> ${shift})` : `${x} >> ${shift}`;
      return `select(0u, ${name === "shl" ? `${x} << ${shift}` : right}, ${y} < ${8 * dtypeBytes(dtype)}u)`;
    }
    default:
      return bitText(name, dtype, x, y);
  }
}

function bitText(name: OpName, dtype: DTypeCode, x: string, y: string): string {
  if (name === "not") return dtype === DType.bool ? `1u - ${x}` : `(~${x})`;
  return `(${x} ${name === "and" ? "&" : name === "or" ? "|" : "^"} ${y})`;
}

/** The text of src/numerics/cast.ts. */
function castText(x: string, from: DTypeCode, to: DTypeCode): string {
  if (from === to) return x;
  if (isFloat(from)) return fromFloatText(x, from, to);
  if (isFloat(to)) {
    const wide = widened(x, from);
    const sign = isSigned(from) ? `(${wide}.y & 0x80000000u)` : "0u";
    const magnitude = isSigned(from) ? `abs64(${wide})` : wide;
    return to === DType.float64
      ? `roundedd(${sign}, bOf(${magnitude}), 0, false)`
      : `rounded(${formatOf(to)}, ${sign}, ${magnitude}, 0, false)`;
  }
  if (to === DType.bool) return bool(isWide(from) ? `any(${x} != vec2u(0u))` : `${x} != 0u`);
  if (isWide(to)) return widened(x, from);
  return wrapped(isWide(from) ? `${x}.x` : x, to);
}

function fromFloatText(x: string, from: DTypeCode, to: DTypeCode): string {
  const double = from === DType.float64;
  if (to === DType.float64) return `fromf(${x})`;
  if (isFloat(to)) return `cast${double ? "d" : "f"}(${formatOf(to)}, ${x})`;
  if (to === DType.bool) return bool(double ? `any(${x} != vec2u(0u))` : `${x} != 0u`);
  const sign = double ? `${x}.y >= 0x80000000u` : `${x} >= 0x80000000u`;
  const bits = 8 * dtypeBytes(to);
  const signed = isSigned(to);
  const limit = (value: bigint): string => `vec2u(${value & 0xffffffffn}u, ${value >> 32n}u)`;
  const up = limit(2n ** BigInt(signed ? bits - 1 : bits) - 1n);
  const down = limit(signed ? 2n ** BigInt(bits - 1) : 0n);
  const whole = `toInt(${sign}, magnitude${double ? "d" : "f"}(${x}), ${up}, ${down})`;
  return isWide(to) ? whole : `${whole}.x`;
}
