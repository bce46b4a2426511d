import { DType, isFloat, isInteger, type DType as DTypeCode } from "../numerics/dtype.ts";

/** Operations of an expression; codes and meaning: docs/program.md. */
export const Op = {
  digit: 0x00,
  select: 0x01,
  cast: 0x02,
  add: 0x10,
  sub: 0x11,
  mul: 0x12,
  div: 0x13,
  mod: 0x14,
  fmod: 0x15,
  min: 0x16,
  max: 0x17,
  pow: 0x18,
  neg: 0x20,
  abs: 0x21,
  sign: 0x22,
  eq: 0x28,
  lt: 0x29,
  le: 0x2a,
  and: 0x30,
  or: 0x31,
  xor: 0x32,
  not: 0x33,
  shl: 0x34,
  shr: 0x35,
  sqrt: 0x40,
  floor: 0x41,
  ceil: 0x42,
  round: 0x43,
  isNaN: 0x44,
  isInf: 0x45,
  exp: 0x50,
  log: 0x51,
  tanh: 0x52,
  sigmoid: 0x53,
  erf: 0x54,
  expm1: 0x55,
  log1p: 0x56,
  sin: 0x57,
  cos: 0x58,
  tan: 0x59,
  asin: 0x5a,
  acos: 0x5b,
  atan: 0x5c,
  sinh: 0x5d,
  cosh: 0x5e,
  asinh: 0x5f,
  acosh: 0x60,
  atanh: 0x61,
} as const;

export type OpName = keyof typeof Op;
export type Op = (typeof Op)[OpName];

type Signature = { name: OpName; arity: 0 | 1 | 2 | 3; accepts: (dtype: DTypeCode) => boolean; bool?: true };

const isBool = (dtype: DTypeCode): boolean => dtype === DType.bool;
// No operation takes a limb.
const any = (dtype: DTypeCode): boolean => dtype !== DType.limb;
const number = (dtype: DTypeCode): boolean => any(dtype) && !isBool(dtype);
const bits = (dtype: DTypeCode): boolean => any(dtype) && !isFloat(dtype);

const TABLE: readonly (readonly [OpName, Signature["arity"], Signature["accepts"], true?])[] = [
  ["digit", 0, (d) => d === DType.int64],
  ["select", 3, any],
  ["cast", 1, any],
  ["add", 2, number],
  ["sub", 2, number],
  ["mul", 2, number],
  ["div", 2, number],
  ["mod", 2, isInteger],
  ["fmod", 2, number],
  ["min", 2, number],
  ["max", 2, number],
  ["pow", 2, isFloat],
  ["neg", 1, number],
  ["abs", 1, number],
  ["sign", 1, number],
  ["eq", 2, any, true],
  ["lt", 2, number, true],
  ["le", 2, number, true],
  ["and", 2, bits],
  ["or", 2, bits],
  ["xor", 2, bits],
  ["not", 1, bits],
  ["shl", 2, isInteger],
  ["shr", 2, isInteger],
  ["sqrt", 1, isFloat],
  ["floor", 1, isFloat],
  ["ceil", 1, isFloat],
  ["round", 1, isFloat],
  ["isNaN", 1, isFloat, true],
  ["isInf", 1, isFloat, true],
  ["exp", 1, isFloat],
  ["log", 1, isFloat],
  ["tanh", 1, isFloat],
  ["sigmoid", 1, isFloat],
  ["erf", 1, isFloat],
  ["expm1", 1, isFloat],
  ["log1p", 1, isFloat],
  ["sin", 1, isFloat],
  ["cos", 1, isFloat],
  ["tan", 1, isFloat],
  ["asin", 1, isFloat],
  ["acos", 1, isFloat],
  ["atan", 1, isFloat],
  ["sinh", 1, isFloat],
  ["cosh", 1, isFloat],
  ["asinh", 1, isFloat],
  ["acosh", 1, isFloat],
  ["atanh", 1, isFloat],
];

const SIGNATURES = new Map<number, Signature>(
  TABLE.map(([name, arity, accepts, bool]) => [Op[name], { name, arity, accepts, ...(bool ? { bool } : {}) }]),
);

/** Returns the signature of an operation code, or undefined for an unknown operation. */
export const signature = (op: number): Signature | undefined => SIGNATURES.get(op);

/** All operations, in the order of their codes. */
export const OPERATIONS: readonly OpName[] = TABLE.map(([name]) => name);

/** Whether an operation is an elementary function. */
export const isElementary = (op: Op): boolean => op === Op.pow || op >= Op.exp;
