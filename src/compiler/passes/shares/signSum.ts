import { DType } from "../../../numerics/dtype.ts";
import { numberWord } from "../../../numerics/numbers.ts";
import { Op } from "../../../program/operations.ts";
import { Reduce, type Step, type View } from "../../../program/types.ts";
import { sibling, wholeView, type Parts } from "../provable/parts.ts";
import { rowView } from "./byteSum.ts";
import { elementwise, plainAxis, type Dense } from "./feedback.ts";

const { float32, int64, uint8, bool } = DType;
/** Signs in a byte. */
const BITS = 8;

/** Reads a row with `count` elements, eight in a group: element 8 * group + bit. Elements beyond the row are zeros. */
const groupsView = (input: number, count: number, group: number): View => ({
  ...{ input, fill: 0n },
  axes: [
    plainAxis(
      count,
      [group, group + 1].map((digit, k) => ({ digit, coeff: k === 0 ? BITS : 1 })),
    ),
  ],
});

/**
 * Returns steps rounding float32 numbers to signs: the numbers, the scale (the mean size: an exact sum, rounded once,
 * divided by the count), the signs (bit k in byte j is 1 if number 8 * j + k is below zero), the feedback (each number
 * minus its sign times the scale).
 * @param sum The numbers, without an epilogue after them.
 */
export function signSum(sum: Step): Parts {
  const { count, outDigits } = sum;
  const scale: Step = {
    ...{ dtype: float32, count: 1, inputs: [sibling(0, sum)], outDigits: [1], redDigits: [count] },
    ...{ reduce: Reduce.sum, reduceType: float32, epilogueReads: [], termReads: [rowView(0, 1, count)] },
    constants: [{ dtype: float32, value: numberWord(count, float32) }],
    term: { code: [{ op: Op.abs, dtype: float32, a: 0, b: 0, c: 0 }], outA: 2, outB: 0 },
    epilogue: { code: [{ op: Op.div, dtype: float32, a: 0, b: 1, c: 0 }], out: 2 },
  };
  const bytes = Math.ceil(count / BITS);
  const signs: Step = {
    ...{ dtype: uint8, count: bytes, inputs: [sibling(0, sum)], outDigits: [bytes], redDigits: [BITS] },
    ...{ reduce: Reduce.sum, reduceType: uint8, epilogueReads: [], termReads: [groupsView(0, count, 0)] },
    constants: [{ dtype: float32, value: 0n }],
    term: {
      code: [
        { op: Op.lt, dtype: float32, a: 0, b: 1, c: 0 },
        { op: Op.cast, dtype: bool, a: 2, b: uint8, c: 0 },
        { op: Op.digit, dtype: int64, a: 1, b: 0, c: 0 },
        { op: Op.cast, dtype: int64, a: 4, b: uint8, c: 0 },
        { op: Op.shl, dtype: uint8, a: 3, b: 5, c: 0 },
      ],
      ...{ outA: 6, outB: 0 },
    },
    epilogue: { code: [], out: 0 },
  };
  const feedback = elementwise(float32, outDigits, {
    inputs: [sibling(0, sum), sibling(1, scale)],
    reads: [wholeView(0, outDigits), rowView(1)],
    constants: [{ dtype: float32, value: 0n }],
    code: [
      { op: Op.lt, dtype: float32, a: 0, b: 2, c: 0 },
      { op: Op.neg, dtype: float32, a: 1, b: 0, c: 0 },
      { op: Op.select, dtype: float32, a: 3, b: 4, c: 1 },
      { op: Op.sub, dtype: float32, a: 0, b: 5, c: 0 },
    ],
  });
  return [sum, scale, signs, feedback];
}

/** Returns how all shares' signs become sums: each sign times the share's scale, added exactly, rounded once. */
export const joinSigns =
  (count: number): Dense =>
  (shares, [signs, scales]) => {
    const bytes = Math.ceil(count / BITS);
    const coeffs = [
      { digit: 0, coeff: 1 },
      { digit: 2, coeff: bytes },
    ];
    return {
      ...{ dtype: float32, count: bytes * BITS, outDigits: [bytes, BITS], redDigits: [shares] },
      inputs: [
        { kind: "input", index: signs!, dtype: uint8, count: shares * bytes },
        { kind: "input", index: scales!, dtype: float32, count: shares },
      ],
      ...{ reduce: Reduce.sum, reduceType: float32, epilogueReads: [], epilogue: { code: [], out: 0 } },
      constants: [{ dtype: uint8, value: 1n }],
      termReads: [{ input: 0, fill: 0n, axes: [plainAxis(shares * bytes, coeffs)] }, rowView(1, 2, shares)],
      term: {
        code: [
          { op: Op.digit, dtype: int64, a: 1, b: 0, c: 0 },
          { op: Op.cast, dtype: int64, a: 3, b: uint8, c: 0 },
          { op: Op.shr, dtype: uint8, a: 0, b: 4, c: 0 },
          { op: Op.and, dtype: uint8, a: 5, b: 2, c: 0 },
          { op: Op.cast, dtype: uint8, a: 6, b: bool, c: 0 },
          { op: Op.neg, dtype: float32, a: 1, b: 0, c: 0 },
          { op: Op.select, dtype: float32, a: 7, b: 8, c: 1 },
        ],
        ...{ outA: 9, outB: 0 },
      },
    };
  };
