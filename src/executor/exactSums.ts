import { DType, dtypeBytes, isHalf, type DType as DTypeCode } from "../numerics/dtype.ts";
import { exactSumOfProducts, type ExactSum } from "../numerics/exactSum.ts";
import { isDot, isPartial } from "../program/reduction.ts";
import { Reduce, type Axis, type Step, type View } from "../program/types.ts";
import { splitDigits } from "../program/view.ts";
import { widenedBits } from "./halfBits.ts";

const ONE_BITS = 0x3f800000;

/**
 * The exact sum of each element of a step, over gathered bits, which is faster than word by word.
 * @param sources The bytes of the step's inputs, little-endian.
 * @returns undefined unless terms are floats of up to 32 bits that are added or multiplied as they are read, by views
 * whose offsets plain numbers can hold
 */
export function exactSums(step: Step, sources: readonly Uint8Array[]): ((index: number) => ExactSum) | undefined {
  if (!isPlainFloatDot(step)) return undefined;
  const terms = step.redDigits.reduce((product, radix) => product * radix, 1);
  const a = new Uint32Array(terms);
  const b = new Uint32Array(terms).fill(ONE_BITS);
  const slots = isDot(step.reduce) ? [step.term.outA, step.term.outB] : [step.term.outA];
  const gathers = slots.map((slot, n) => {
    const view = step.termReads[slot]!;
    return termGatherer(step, view, sources[view.input]!, n === 0 ? a : b);
  });
  return (index) => {
    const outDigits = splitDigits(index, step.outDigits);
    for (const gather of gathers) gather(outDigits);
    return exactSumOfProducts(a, 0, b, 0, terms);
  };
}

function isPlainFloatDot(step: Step): boolean {
  const adds = step.reduce === Reduce.sum || isDot(step.reduce) || isPartial(step.reduce);
  if (!adds || (step.reduceType !== DType.float32 && !isHalf(step.reduceType!))) return false;
  const { code, outA, outB } = step.term;
  const reads = step.termReads.length;
  if (code.length > 0 || outA >= reads || (isDot(step.reduce) && outB >= reads)) return false;
  const radices = [...step.outDigits, ...step.redDigits];
  return step.termReads.every((view) =>
    view.axes.every(({ base, indirect, coeffs }) => {
      const reach = coeffs.reduce((sum, { digit, coeff }) => sum + Math.abs(coeff) * radices[digit]!, Math.abs(base));
      return indirect === undefined && reach < 2 ** 52;
    }),
  );
}

/** An axis with its coordinate's part that depends on the reduction digits, for each term. */
type MovingAxis = Axis & { moves: Float64Array };

/** Fills `row` with the float32 bits that a view reads for all reduction indices at given out digits. */
function termGatherer(
  step: Step,
  view: View,
  source: Uint8Array,
  row: Uint32Array,
): (outDigits: readonly number[]) => void {
  const dtype = step.inputs[view.input]!.dtype;
  const outCount = step.outDigits.length;
  const axes = view.axes.map((axis): MovingAxis => {
    const moves = new Float64Array(row.length);
    const red = axis.coeffs.filter(({ digit }) => digit >= outCount);
    for (let r = 0; red.length > 0 && r < row.length; r++) {
      const digits = splitDigits(r, step.redDigits);
      moves[r] = red.reduce((sum, { digit, coeff }) => sum + coeff * digits[digit - outCount]!, 0);
    }
    return { ...axis, moves };
  });
  const read = bitsReader(source, dtype);
  const fill = isHalf(dtype) ? widenedBits(Number(view.fill), dtype) : Number(view.fill);
  return (outDigits) => {
    const starts = axes.map(({ base, coeffs }) =>
      coeffs.reduce((c, { digit, coeff }) => (digit < outCount ? c + coeff * outDigits[digit]! : c), base),
    );
    for (let r = 0; r < row.length; r++) {
      const offset = termOffset(axes, starts, r);
      row[r] = offset === -1 ? fill : read(offset);
    }
  };
}

/** `viewOffset` of term r in plain numbers; -1 for the fill value. */
function termOffset(axes: readonly MovingAxis[], starts: readonly number[], r: number): number {
  let offset = 0;
  for (let n = 0; n < axes.length; n++) {
    const { extent, stride, div, moves } = axes[n]!;
    let c = starts[n]! + moves[r]!;
    if (div !== 1) {
      if (c % div !== 0) return -1;
      c /= div;
    }
    if (c < 0 || c >= extent) return -1;
    offset += c * stride;
  }
  return offset;
}

/** Reads an element of a tensor of floats of up to 32 bits, as the bits of a float32. */
function bitsReader(source: Uint8Array, dtype: DTypeCode): (offset: number) => number {
  const bytes = new DataView(source.buffer, source.byteOffset, source.byteLength);
  if (dtype === DType.float32) return (offset) => bytes.getUint32(offset * 4, true);
  const size = dtypeBytes(dtype);
  return (offset) => widenedBits(bytes.getUint16(offset * size, true), dtype);
}
