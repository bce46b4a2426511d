import type { Code } from "../../numerics/kernels/assembler/encoding.ts";
import type { Local } from "../../numerics/kernels/assembler/functionBuilder.ts";
import { i32 } from "../../numerics/kernels/assembler/instructions.ts";
import { dtypeBytes, isFloat, isHalf } from "../../numerics/dtype.ts";
import { digitStrides } from "../splitStep.ts";
import { extractLane, storeScalar, storeVector, storeWidened, storeWidenedVector } from "./access.ts";
import { addressConstant, type DigitLocal } from "./address.ts";
import { encoded } from "./halfFloat.ts";
import { withOneNaN, withoutNegativeZero } from "./floatOperation.ts";
import type { StoredDigit } from "./mergeLoops.ts";
import type { LoopSpec } from "./spec.ts";
import { define, LANES, type Emitter, type LoopValue } from "./values.ts";

export const FLOAT64_BYTES = 8;

/** The digits of loops, by their numbers. */
export const digitsByNumber = (
  loops: readonly { digit: number; radix: number; counter: Local }[],
): Map<number, DigitLocal> =>
  new Map(loops.map(({ digit, radix, counter }, k) => [digit, { code: counter.get, level: k + 1, radix }]));

/** Multiplies a variable by a constant. */
export const scaled = (value: Local, scale: number): Code =>
  scale === 1 ? [] : value.set(i32.mul(value.get, i32.const(scale)));

/** Digits with the strides of results. */
export function storedDigits({ digits, outStrides }: Pick<LoopSpec, "digits" | "outStrides">): StoredDigit[] {
  const strides = outStrides ?? digitStrides(digits.map(({ radix }) => radix));
  return digits.map((digit, k) => ({ ...digit, outStride: strides[k]! }));
}

/** Returns a result in its stored form: 16-bit floats become uint16, unless `widened`. */
export function canonical(emitter: Emitter, value: LoopValue, widened = false): LoopValue {
  if (!isFloat(value.dtype)) return value;
  const zero = value.mayBeNegativeZero ? define(emitter, withoutNegativeZero(value)) : value;
  const one = zero.mayBeOtherNaN ? define(emitter, withOneNaN(zero)) : zero;
  return isHalf(one.dtype) && !widened ? encoded(emitter, one) : one;
}

/** Stores one result, or LANES results `step` bytes apart. */
export function stored(address: Code, { code, dtype, isVector }: LoopValue, widened: boolean, step: number): Code {
  const bytes = widened ? FLOAT64_BYTES : dtypeBytes(dtype);
  const storeOne = widened ? storeWidened : (at: Code, value: Code): Code => storeScalar(dtype, at, value);
  if (!isVector) return storeOne(address, code);
  if (step === bytes) return widened ? storeWidenedVector(address, code) : storeVector(dtype, address, code);
  return Array.from({ length: LANES }, (_, lane) =>
    storeOne(i32.add(address, addressConstant(lane * step)), extractLane(dtype, code, lane)),
  );
}
