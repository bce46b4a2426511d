import type { Code } from "../../numerics/kernels/assembler/encoding.ts";
import type { Callable } from "../../numerics/kernels/assembler/moduleBuilder.ts";
import { f32, f32x4, f64, i64, v128 } from "../../numerics/kernels/assembler/instructions.ts";
import { select } from "../../numerics/kernels/assembler/control.ts";
import { DType, isFloat, isHalf, type DType as DTypeCode } from "../../numerics/dtype.ts";
import { Op, signature, type OpName } from "../../program/operations.ts";
import type { Instruction } from "../../program/types.ts";
import { castScalar } from "./castOperation.ts";
import { FLOAT, FLOAT_CONDITION, withoutNegativeZero } from "./floatOperation.ts";
import { integerOperation } from "./integerOperation.ts";
import { roundedToHalf } from "./halfFloat.ts";
import { halfName } from "./halfHelpers.ts";
import { inlined } from "./inlined.ts";
import { literal } from "./literal.ts";
import { assembleLanes, dependsOn, emitRead, emitVectorRead, type ReadScope } from "./read.ts";
import { neededSlots, operands, slotTypes, type Expression } from "./slots.ts";
import { define, exact, floatScalar, isWide, LANES, splat, type LoopValue } from "./values.ts";
import { castLanes, hasCastLanes, hasIntegerLanes, integerLanes, isShift, shiftedLanes } from "./vectorOperation.ts";

/** Operations whose results on 16-bit values may need more than 16 bits. */
const ROUNDED: ReadonlySet<OpName> = new Set<OpName>(["add", "sub", "mul", "div", "sqrt"]);

/**
 * Emits an expression's slots, each slot once, on first use.
 * @param vectorDigit The digit taken LANES values at a time; {@link canVectorise} must hold for this digit.
 */
export function expressionEmitter(
  context: ReadScope,
  { reads, constants, code }: Expression,
  vectorDigit?: number,
): (slot: number) => LoopValue {
  const { emitter, digits } = context;
  const known = new Map<number, LoopValue>();
  return slotValue;

  function slotValue(slot: number): LoopValue {
    const found = known.get(slot);
    if (found !== undefined) return found;
    const value = emitSlot(slot);
    known.set(slot, value);
    return value;
  }

  function emitSlot(slot: number): LoopValue {
    if (slot < reads.length) {
      const view = reads[slot]!;
      const isVector = vectorDigit !== undefined && dependsOn(reads, view, vectorDigit);
      return isVector ? emitVectorRead(context, view, vectorDigit) : emitRead(context, view);
    }
    const constant = constants[slot - reads.length];
    if (constant !== undefined) {
      const isNumber = constant.dtype === DType.float32 && (constant.value & 0x7fffffffn) <= 0x7f800000n;
      return { ...exact(literal(constant.value, constant.dtype), constant.dtype, 0), isNumber };
    }
    const instruction = code[slot - reads.length - constants.length]!;
    if (instruction.op === Op.digit) {
      const digit = digits.get(instruction.a);
      if (digit === undefined) return exact(i64.const(0n), DType.int64, 0);
      return define(emitter, exact(i64.extendI32U(digit.code), DType.int64, digit.level));
    }
    return define(emitter, operation(instruction, operands(instruction).map(slotValue)));
  }

  function operation({ op, dtype, b: target }: Instruction, values: readonly LoopValue[]): LoopValue {
    const isVector = values.some((value) => value.isVector);
    if (isVector && isShift(signature(op)!.name)) return shiftedBy(signature(op)!.name, dtype, values);
    const used = isVector ? values.map((value) => splat(emitter, value)) : values;
    const [a, b, c] = used as [LoopValue, LoopValue, LoopValue];
    const level = Math.max(...used.map((value) => value.level));
    if (op === Op.cast) {
      const to = target as DTypeCode;
      if (to === dtype) return a;
      if (isHalf(to) || (isFloat(dtype) && isFloat(to))) return castToFloat(a, dtype, to);
      return exact((isVector ? castLanes : castScalar)(dtype, to, a.code), to, level, isVector);
    }
    if (op === Op.select) {
      const chosen = isVector ? v128.bitselect(b.code, c.code, a.code) : select(b.code, c.code, a.code);
      return {
        ...exact(chosen, dtype, level, isVector),
        mayBeNegativeZero: b.mayBeNegativeZero || c.mayBeNegativeZero,
        mayBeOtherNaN: b.mayBeOtherNaN || c.mayBeOtherNaN,
      };
    }
    const { name, bool } = signature(op)!;
    if (isFloat(dtype)) return floatOperation(name, dtype, used, level, isVector);
    const made = isVector
      ? integerLanes(name, dtype, a.code, b?.code ?? [])
      : integerOperation(name, dtype, a.code, b?.code ?? [], emitter.fn);
    return exact(made, bool ? DType.bool : dtype, level, isVector);
  }

  function shiftedBy(name: OpName, dtype: DTypeCode, [a, count]: readonly LoopValue[]): LoopValue {
    const lanes = splat(emitter, a!);
    return exact(shiftedLanes(name, dtype, lanes.code, count!.code), dtype, Math.max(a!.level, count!.level), true);
  }

  /** To float32 from 16 bits, which changes nothing, or to 16 bits; between float32 and float64. */
  function castToFloat(a: LoopValue, from: DTypeCode, to: DTypeCode): LoopValue {
    if (to === DType.float64) return { ...a, code: f64.promoteF32(a.code), dtype: to };
    if (from === DType.float64)
      return { ...a, code: f32.demoteF64(a.code), dtype: to, mayBeNegativeZero: true, mayBeOtherNaN: true };
    const made = isFloat(from) ? a.code : (a.isVector ? castLanes : castScalar)(from, DType.float32, a.code);
    const value = { ...a, code: made, dtype: DType.float32 };
    return to === DType.float32 ? value : roundedToHalf(emitter, value, to);
  }

  function floatOperation(
    name: OpName,
    dtype: DTypeCode,
    values: readonly LoopValue[],
    level: number,
    isVector: boolean,
  ): LoopValue {
    const [a, b] = values as [LoopValue, LoopValue];
    const condition = FLOAT_CONDITION[name];
    if (condition !== undefined) {
      const operand = b?.code ?? [];
      const made = isVector
        ? condition.vector(a.code, operand)
        : condition.scalar(a.code, operand, floatScalar(a.dtype));
      return exact(made, DType.bool, level, isVector);
    }
    const lowering = FLOAT[name];
    const rounded = (made: Code, mayBeNegativeZero: boolean): LoopValue => {
      const value = { ...exact(made, dtype, level, isVector), mayBeNegativeZero, mayBeOtherNaN: true };
      return isHalf(dtype) && ROUNDED.has(name) ? roundedToHalf(emitter, value, dtype) : value;
    };
    if (lowering === undefined) {
      const isInPlace = isVector && name !== "fmod" && !isHalf(dtype);
      return isInPlace ? inlined(emitter, name, values, level) : rounded(called(name, dtype, values, isVector), true);
    }
    // The sign of a zero matters only to division.
    const divisor = name === "div" ? define(emitter, withoutNegativeZero(b)).code : (b?.code ?? []);
    const made = isVector
      ? (extremum(name, a, b) ?? lowering.vector(a.code, divisor))
      : lowering.scalar(a.code, divisor, floatScalar(dtype));
    return rounded(made, lowering.negativeZero(a, b ?? a));
  }

  /** Calls a function in all lanes at once. Remainders and functions of 16-bit floats are called element by element. */
  function called(name: OpName, dtype: DTypeCode, values: readonly LoopValue[], isVector: boolean): Code {
    // A remainder is exact, in any type.
    if (name === "fmod") return laneByLane(emitter.fmod(dtype === DType.float64 ? "f64" : "f32"), values, isVector);
    if (isHalf(dtype)) return laneByLane(emitter.half(halfName(name, dtype), values.length), values, isVector);
    // Powers distinguish the two zeros.
    const used = values.map((value) => withoutNegativeZero(value).code);
    if (dtype === DType.float64) return emitter.elementary64(name, values.length)(...used);
    const call = emitter.elementary(name, values.length);
    return f32x4.extract(call(...used.map((code) => f32x4.splat(code))), 0);
  }

  function laneByLane(call: Callable, values: readonly LoopValue[], isVector: boolean): Code {
    if (!isVector) return call(...values.map((value) => value.code));
    const lanes = Array.from({ length: LANES }, (_, lane) =>
      call(...values.map((value) => f32x4.extract(value.code, lane))),
    );
    return assembleLanes(DType.float32, lanes);
  }
}

/**
 * Computes the minimum or maximum of a vector and a constant in one instruction. If the operands do not compare, the
 * instruction returns its first operand. A NaN in the vector therefore becomes the result. A possibly wrong zero counts
 * as a possible -0.
 */
function extremum(name: OpName, a: LoopValue, b: LoopValue): Code | undefined {
  if (name !== "min" && name !== "max") return undefined;
  const pick = name === "min" ? f32x4.pmin : f32x4.pmax;
  if (b.isNumber) return pick(a.code, b.code);
  return a.isNumber ? pick(b.code, a.code) : undefined;
}

/** Whether everything that `outs` need can be computed for LANES values of a digit at a time. */
export function canVectorise(
  expression: Expression,
  sourceTypes: readonly DTypeCode[],
  outs: readonly number[],
  digit: number,
): boolean {
  const { reads, constants, code } = expression;
  const types = slotTypes(expression, sourceTypes);
  if (outs.some((out) => isWide(types[out]!))) return false;
  const first = reads.length + constants.length;
  const depends = new Map<number, boolean>();
  const moves = (slot: number): boolean => {
    const known = depends.get(slot);
    if (known !== undefined) return known;
    const instruction = code[slot - first];
    const does =
      slot < reads.length
        ? dependsOn(reads, reads[slot]!, digit)
        : instruction !== undefined &&
          (instruction.op === Op.digit ? instruction.a === digit : operands(instruction).some(moves));
    depends.set(slot, does);
    return does;
  };
  // Indices for indirect reads are read singly, regardless of type.
  return [...neededSlots({ ...expression, reads: reads.map(direct) }, outs)].every((slot) => {
    if (!moves(slot)) return true;
    if (isWide(types[slot]!)) return false;
    const instruction = code[slot - first];
    if (instruction === undefined) return true;
    const isShifted = instruction.op === Op.shl || instruction.op === Op.shr;
    return hasLanes(instruction) && !(isShifted && moves(instruction.b));
  });
}

const direct = (view: Expression["reads"][number]): typeof view => ({ ...view, axes: [] });

function hasLanes({ op, dtype, b }: Instruction): boolean {
  if (op === Op.digit) return false;
  if (op === Op.cast) return hasCastLanes(dtype, b as DTypeCode);
  if (isWide(dtype)) return false;
  return op === Op.select || isFloat(dtype) || hasIntegerLanes(signature(op)!.name);
}
