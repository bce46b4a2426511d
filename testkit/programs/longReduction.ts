import { DType, dtypeBytes, isFloat, writeWord, type DType as DTypeCode } from "../../src/numerics/dtype.ts";
import { Op } from "../../src/program/operations.ts";
import { isDot } from "../../src/program/reduction.ts";
import { Reduce, type Axis, type Instruction, type Step, type TensorRef, type View } from "../../src/program/types.ts";
import { validateStep } from "../../src/program/validate.ts";
import { float32Bits } from "../numerics/float32Words.ts";
import type { Prng } from "../random/prng.ts";
import { randomTensor, type RandomStep } from "./randomStep.ts";

const SUMS = [Reduce.sum, Reduce.dot, Reduce.sum, Reduce.dot];
const SEARCHES: readonly Reduce[] = [
  Reduce.max,
  Reduce.min,
  Reduce.argmax,
  Reduce.argmin,
  Reduce.argmaxLast,
  Reduce.argminLast,
  Reduce.last,
];
/** Prime lengths have no blocks of one size. */
const LENGTHS = [[1021], [1200], [7, 211], [24, 50], [3, 3, 128], [1, 1499], [2, 601]];
/** NaN, the infinities, a zero, a number. */
const ENDS = [0x7fc00000n, 0xff800000n, 0x7f800000n, 0x80000000n, 0x3f800000n];
const INTEGER_ENDS = [0n, -1n, 1n, -(1n << 63n), (1n << 63n) - 1n, -128n, 127n];
const INTEGERS = [DType.int8, DType.int32, DType.int64, DType.uint64];

/**
 * Returns a step with a few elements over some thousand terms, and the inputs' bytes. The step has enough terms to make
 * splitting pay.
 */
export function longReduction(prng: Prng): RandomStep {
  const reduce = prng.pick(prng.below(2) === 0 ? SUMS : SEARCHES);
  const dtype = prng.below(3) === 0 ? prng.pick(INTEGERS) : DType.float32;
  const redDigits = prng.pick(LENGTHS);
  const outDigits = [1 + prng.below(3), 1 + prng.below(2)];
  const radices = [...outDigits, ...redDigits];
  const isLast = reduce === Reduce.last;
  const reads = isDot(reduce) || isLast ? 2 : 1;
  const views = Array.from({ length: reads }, (_, input) => view(prng, input, radices, outDigits.length));
  const inputs = views.map(({ axes }, index): TensorRef => {
    const count = axes.reduce((last, { extent, stride }) => last + (extent - 1) * stride, 1);
    return { kind: "input", index, dtype, count };
  });
  const code: Instruction[] = [];
  const push = (op: Op, type: DTypeCode, a: number, b: number): number =>
    reads + code.push({ op, dtype: type, a, b, c: 0 }) - 1;
  let outA = 0;
  // A term that depends on the position, or differs from the value read: blocks cannot be bare.
  if (prng.below(3) === 0) {
    const digit = push(Op.digit, DType.int64, outDigits.length + prng.below(redDigits.length), 0);
    const value = dtype === DType.int64 ? digit : push(Op.cast, DType.int64, digit, dtype);
    outA = push(prng.pick([Op.add, Op.mul, Op.max]), dtype, 0, value);
  }
  if (isLast) outA = push(prng.pick([Op.lt, Op.eq]), dtype, outA, 1);
  const count = outDigits[0]! * outDigits[1]!;
  const search = SEARCHES.includes(reduce);
  const step: Step = {
    ...epilogue(reduce, dtype),
    count,
    inputs,
    outDigits,
    redDigits,
    reduce,
    reduceType: dtype,
    constants: [],
    termReads: views,
    epilogueReads: [{ ...views[0]!, axes: [] }],
    term: { code, outA, outB: isPosition(reduce) ? 0 : reads - 1 },
  };
  validateStep(step);
  return { step, tensors: inputs.map(({ count: length }) => tensor(prng, dtype, length, search)) };
}

const isPosition = (reduce: Reduce): boolean => reduce >= Reduce.argmax && reduce <= Reduce.argminLast;

/** Returns the epilogue on the accumulator: the read takes slot 0, the accumulator slot 1 (and 2). */
function epilogue(reduce: Reduce, dtype: DTypeCode): Pick<Step, "dtype" | "epilogue"> {
  const { int64 } = DType;
  if (reduce === Reduce.last)
    return { dtype, epilogue: { code: [{ op: Op.select, dtype, a: 2, b: 1, c: 0 }], out: 3 } };
  if (!isPosition(reduce)) return { dtype, epilogue: { code: [{ op: Op.add, dtype, a: 0, b: 1, c: 0 }], out: 2 } };
  if (dtype === DType.int8) return { dtype: int64, epilogue: { code: [], out: 1 } };
  const shifted: Instruction[] = [
    { op: Op.cast, dtype, a: 0, b: int64, c: 0 },
    { op: Op.add, dtype: int64, a: 1, b: 2, c: 0 },
  ];
  return { dtype: int64, epilogue: { code: shifted, out: 3 } };
}

/** Returns a view with one axis per digit, terms far apart, sometimes partly out of bounds. */
function view(prng: Prng, input: number, radices: readonly number[], outDigits: number): View {
  let stride = 8;
  const axes = radices.map((radix, digit): Axis => {
    const outside = digit >= outDigits && radix > 2 && prng.below(4) === 0 ? 1 : 0;
    const axis = { extent: radix - outside, stride, base: 0, div: 1, coeffs: [{ digit, coeff: 1 }] };
    stride *= axis.extent;
    return axis;
  });
  return { input, fill: prng.below(4) === 0 ? 1n : 0n, axes };
}

/**
 * Returns words with all magnitudes. Every other tensor has neither NaN nor infinities, and its neighbours cancel.
 * @param search Whether the step searches for a position. If true, the tensor has few values, and many positions are
 *   equally good. The values include the type's ends.
 */
function tensor(prng: Prng, dtype: DTypeCode, count: number, search: boolean): Uint8Array {
  if (search && prng.below(2) === 0) {
    const few = Array.from({ length: 1 + prng.below(3) }, () => prng.pick(isFloat(dtype) ? ENDS : INTEGER_ENDS));
    const bytes = new Uint8Array(count * dtypeBytes(dtype));
    for (let k = 0; k < count; k++) writeWord(bytes, k, dtype, prng.pick(few));
    return bytes;
  }
  if (!isFloat(dtype)) return randomTensor(prng, dtype, count);
  const finite = prng.below(4) !== 0;
  const words = Uint32Array.from({ length: count }, () => float32Bits(prng));
  words.forEach((word, k) => {
    if (!finite && prng.below(50) === 0) return;
    const exponent = (word >>> 23) & 0xff;
    if (exponent === 0xff) words[k] = (word & 0x807fffff) | 0x3f800000;
    if (k % 16 === 8 && prng.below(3) !== 0) words[k] = words[k - 8]! ^ 0x80000000;
  });
  return new Uint8Array(words.buffer);
}
