import { DType } from "../../../numerics/dtype.ts";
import { numberWord } from "../../../numerics/numbers.ts";
import { Op } from "../../../program/operations.ts";
import { Reduce, type Constant, type Step, type View } from "../../../program/types.ts";
import { sibling, wholeView, type Parts } from "../provable/parts.ts";

const { float32, int8 } = DType;
/** The greatest size of a byte. */
const MOST = 127;

const number = (value: number): Constant => ({ dtype: float32, value: numberWord(value, float32) });

/** Reads element 0, 1, ... of an input by one digit; without a digit, the only element. */
export const rowView = (input: number, digit?: number, extent = 1): View => ({
  ...{ input, fill: 0n },
  axes: [{ extent, stride: 1, base: 0, div: 1, coeffs: digit === undefined ? [] : [{ digit, coeff: 1 }] }],
});

/**
 * Returns steps rounding float32 sums to bytes: the sums, the tensor's scale (the greatest size, divided by 127), the
 * bytes (each sum divided by the scale, rounded, half to even).
 * @param sum Sums without an epilogue.
 */
export function byteSum(sum: Step): Parts {
  const { count } = sum;
  const scale: Step = {
    ...{ dtype: float32, count: 1, inputs: [sibling(0, sum)], outDigits: [1], redDigits: [count] },
    ...{ reduce: Reduce.max, reduceType: float32, constants: [number(MOST)], epilogueReads: [] },
    termReads: [rowView(0, 1, count)],
    term: { code: [{ op: Op.abs, dtype: float32, a: 0, b: 0, c: 0 }], outA: 2, outB: 0 },
    epilogue: { code: [{ op: Op.div, dtype: float32, a: 0, b: 1, c: 0 }], out: 2 },
  };
  const bytes: Step = {
    ...{ dtype: int8, count, inputs: [sibling(0, sum), sibling(1, scale)], outDigits: sum.outDigits, redDigits: [] },
    ...{ reduce: Reduce.none, constants: [], termReads: [], term: { code: [], outA: 0, outB: 0 } },
    epilogueReads: [wholeView(0, sum.outDigits), rowView(1)],
    epilogue: {
      code: [
        { op: Op.div, dtype: float32, a: 0, b: 1, c: 0 },
        { op: Op.round, dtype: float32, a: 2, b: 0, c: 0 },
        { op: Op.cast, dtype: float32, a: 3, b: int8, c: 0 },
      ],
      out: 4,
    },
  };
  return [sum, scale, bytes];
}
