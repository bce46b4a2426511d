import { DType } from "../../../numerics/dtype.ts";
import { Op } from "../../../program/operations.ts";
import { Reduce, type Step } from "../../../program/types.ts";
import { sibling, type Parts } from "../provable/parts.ts";
import { elementwise, plainAxis, type Dense } from "./feedback.ts";

const { float32, int64, uint8 } = DType;

/** The largest group: positions are bytes. */
export const MAX_GROUP = 256;

/** Groups of neighbours in a row with `count` elements; the last group may be filled up. */
const groupsOf = (count: number, most: number): { groups: number; size: number } => {
  const size = Math.min(count, most);
  return { groups: Math.ceil(count / size), size };
};

/** Elements of the groups together. */
export const groupedCount = (count: number, most: number): number => {
  const { groups, size } = groupsOf(count, most);
  return groups * size;
};

/**
 * Returns steps keeping one number for each group among neighbours: the numbers, the position in each group with the
 * greatest size (NaN before all, the lowest among equals), the number there, the feedback (all other numbers; 0 there).
 * @param sum The numbers, without an epilogue after them.
 * @param most Neighbours in a group, at most 256.
 */
export function topSum(sum: Step, most: number): Parts {
  const { count } = sum;
  const { groups, size } = groupsOf(count, most);
  const [group, place] = [
    { digit: 0, coeff: size },
    { digit: 1, coeff: 1 },
  ];
  const all = { input: 0, fill: 0n, axes: [plainAxis(count, [group, place])] };
  const position: Step = {
    ...{ dtype: uint8, count: groups, inputs: [sibling(0, sum)], outDigits: [groups], redDigits: [size] },
    ...{ reduce: Reduce.argmax, reduceType: float32, constants: [], epilogueReads: [], termReads: [all] },
    term: { code: [{ op: Op.abs, dtype: float32, a: 0, b: 0, c: 0 }], outA: 1, outB: 0 },
    epilogue: { code: [{ op: Op.cast, dtype: int64, a: 0, b: uint8, c: 0 }], out: 1 },
  };
  const ofGroup = { input: 1, fill: 0n, axes: [plainAxis(groups, [{ digit: 0, coeff: 1 }])] };
  const value = elementwise(float32, [groups], {
    inputs: [sibling(0, sum), sibling(1, position)],
    reads: [ofGroup, { input: 0, fill: 0n, axes: [{ ...plainAxis(count, [group]), indirect: 0 }] }],
    ...{ constants: [], code: [] },
  });
  const feedback = elementwise(float32, [groups, size], {
    inputs: [sibling(0, sum), sibling(1, position)],
    reads: [all, ofGroup],
    constants: [{ dtype: float32, value: 0n }],
    code: [
      { op: Op.digit, dtype: int64, a: 1, b: 0, c: 0 },
      { op: Op.cast, dtype: uint8, a: 1, b: int64, c: 0 },
      { op: Op.eq, dtype: int64, a: 3, b: 4, c: 0 },
      { op: Op.select, dtype: float32, a: 5, b: 2, c: 0 },
    ],
  });
  return [sum, position, value, feedback];
}

/** Returns how all shares' kept numbers become sums: each at its place, added exactly, rounded once. */
export const joinTops =
  (count: number, most: number): Dense =>
  (shares, [values, positions]) => {
    const { groups, size } = groupsOf(count, most);
    const coeffs = [
      { digit: 0, coeff: 1 },
      { digit: 2, coeff: groups },
    ];
    const each = (input: number) => ({ input, fill: 0n, axes: [plainAxis(shares * groups, coeffs)] });
    return {
      ...{ dtype: float32, count: groups * size, outDigits: [groups, size], redDigits: [shares] },
      inputs: [
        { kind: "input", index: values!, dtype: float32, count: shares * groups },
        { kind: "input", index: positions!, dtype: uint8, count: shares * groups },
      ],
      ...{ reduce: Reduce.sum, reduceType: float32, epilogueReads: [], epilogue: { code: [], out: 0 } },
      ...{ constants: [{ dtype: float32, value: 0n }], termReads: [each(0), each(1)] },
      term: {
        code: [
          { op: Op.digit, dtype: int64, a: 1, b: 0, c: 0 },
          { op: Op.cast, dtype: uint8, a: 1, b: int64, c: 0 },
          { op: Op.eq, dtype: int64, a: 3, b: 4, c: 0 },
          { op: Op.select, dtype: float32, a: 5, b: 0, c: 2 },
        ],
        ...{ outA: 6, outB: 0 },
      },
    };
  };
