import { DType } from "../../../numerics/dtype.ts";
import { numberWord } from "../../../numerics/numbers.ts";
import { Op } from "../../../program/operations.ts";
import { isDot } from "../../../program/reduction.ts";
import { Reduce, type Constant, type Instruction, type Step } from "../../../program/types.ts";
import { withSlots } from "../provable/slots.ts";

const { float32, float64, int64 } = DType;
/** The unit of fixed sums is 2^-UNIT_BITS. */
const UNIT_BITS = 40;
/** Bits beside the sign: int64 has one more. */
const SUM_BITS = 62;

const number = (value: number): Constant => ({ dtype: float64, value: numberWord(value, float64) });

/** Appends instructions to a code. `push` returns the slot of the result. */
function appended(code: readonly Instruction[], first: number) {
  const all = [...code];
  const push = (op: Instruction["op"], dtype: DType, a: number, b = 0): number =>
    first + all.push({ op, dtype, a, b, c: 0 }) - 1;
  return { all, push };
}

/**
 * Returns a float32 sum in integers, free from any order: each term (for `dot` the exact product) is rounded to the
 * nearest multiple for the unit 2^-40, half to even. Terms are clamped: no sum over the batch overflows. NaN counts 0.
 * @param terms The number for the whole batch.
 */
export function fixedSum(step: Step, terms: number): Step {
  const limit = 2 ** (SUM_BITS - Math.ceil(Math.log2(terms)));
  const [scale, most, least] = [0, 1, 2].map((k) => step.termReads.length + step.constants.length + k) as Three;
  const slot = (old: number): number => (old < scale ? old : old + 3);
  const { code, outA, outB } = step.term;
  const { all, push } = appended(
    code.map((instruction) => withSlots(instruction, slot)),
    least + 1,
  );
  const wide = (result: number): number => push(Op.cast, float32, slot(result), float64);
  const term = isDot(step.reduce) ? push(Op.mul, float64, wide(outA), wide(outB)) : wide(outA);
  const rounded = push(Op.round, float64, push(Op.mul, float64, term, scale));
  const clamped = push(Op.max, float64, push(Op.min, float64, rounded, most), least);
  return {
    ...step,
    dtype: int64,
    reduce: Reduce.sum,
    reduceType: int64,
    constants: [...step.constants, ...[2 ** UNIT_BITS, limit, -limit].map(number)],
    term: { code: all, outA: push(Op.cast, float64, clamped, int64), outB: 0 },
  };
}

/** Returns a step's epilogue for a fixed sum, turned into float32: rounded to float64, then again. */
export function fromFixed(step: Step): Pick<Step, "constants" | "epilogue"> {
  const sum = step.epilogueReads.length;
  const scale = sum + 1 + step.constants.length;
  const { all, push } = appended([], scale + 1);
  const value = push(Op.cast, float64, push(Op.mul, float64, push(Op.cast, int64, sum, float64), scale), float32);
  const slot = (old: number): number => {
    if (old === sum) return value;
    return old < scale ? old : old - scale + value + 1;
  };
  const { code, out } = step.epilogue;
  return {
    constants: [...step.constants, number(2 ** -UNIT_BITS)],
    epilogue: { code: [...all, ...code.map((instruction) => withSlots(instruction, slot))], out: slot(out) },
  };
}

type Three = [number, number, number];
