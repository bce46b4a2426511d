import { DType, dtypeBytes, isFloat } from "../../../numerics/dtype.ts";
import { isElementary, Op, signature, type OpName } from "../../../program/operations.ts";
import { isExact } from "../../../program/reduction.ts";
import type { Instruction, Step, View } from "../../../program/types.ts";

/*
 * Rough integer operations, for cutting kernels: a driver ends a dispatch that takes seconds, and the GPU is lost. So a
 * cost is that of the operands which take longest. The costs are times of SwiftShader, at 5 ns an operation.
 */

/** A cheap operation, or a read. */
const OPERATION = 20;
/** A function, and those that take longer. */
const FUNCTION = 20_000;
const FUNCTIONS: Partial<Record<OpName, number>> = { erf: 45_000, pow: 45_000 };

/** Operations that take longer than {@link OPERATION}, by their type. */
const OF_FLOATS: Partial<Record<OpName, number>> = { div: 100, sqrt: 200, fmod: 500 };
const OF_DOUBLES: Partial<Record<OpName, number>> = { div: 20_000, sqrt: 20_000, fmod: 6_000 };
const OF_WIDE: Partial<Record<OpName, number>> = { div: 500, mod: 500, fmod: 500 };
/** Any other operation of float64, in 256 bits. */
const DOUBLE = 500;

/** A term, and a sum's carries and its rounding, by whether the sum is of float64. */
const [TERM, DOUBLE_TERM] = [80, 1_500];
const [SUM, DOUBLE_SUM] = [1_500, 8_000];

function costOf({ op, dtype, b }: Instruction): number {
  if (op === Op.select || op === Op.digit) return OPERATION;
  if (op === Op.cast) return [dtype, b].includes(DType.float64) ? DOUBLE : OPERATION;
  const { name } = signature(op)!;
  if (isElementary(op)) return FUNCTIONS[name] ?? FUNCTION;
  if (dtype === DType.float64) return OF_DOUBLES[name] ?? DOUBLE;
  return (isFloat(dtype) ? OF_FLOATS : dtypeBytes(dtype) === 8 ? OF_WIDE : {})[name] ?? OPERATION;
}

/**
 * The operations for reading views and running code.
 * @param unpacking By input, the operations for computing an element where a view reads the element; by default none.
 */
export const operationsOf = (
  reads: readonly View[],
  code: readonly Instruction[],
  unpacking: readonly number[] = [],
): number =>
  reads.reduce((sum, { input }) => sum + OPERATION + (unpacking[input] ?? 0), OPERATION) +
  code.reduce((sum, instruction) => sum + costOf(instruction), 0);

/**
 * The operations for an element of a step.
 * @param isSummed Whether other kernels compute the sums.
 * @param unpacking As for {@link operationsOf}.
 */
export function elementOperations(step: Step, isSummed: boolean, unpacking: readonly number[] = []): number {
  const { reduceType, redDigits, termReads, term } = step;
  const own = operationsOf(step.epilogueReads, step.epilogue.code, unpacking);
  if (reduceType === undefined || isSummed) return own;
  const terms = redDigits.reduce((product, radix) => product * radix, 1);
  const isDouble = reduceType === DType.float64 || reduceType === DType.limb;
  const sum = isExact(step) ? (isDouble ? DOUBLE_SUM : SUM) : 0;
  return own + sum + terms * ((isDouble ? DOUBLE_TERM : TERM) + operationsOf(termReads, term.code, unpacking));
}
