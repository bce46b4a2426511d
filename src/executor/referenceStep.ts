import { canonicalWord, DType, dtypeBytes, readWord, writeWord, type Word } from "../numerics/dtype.ts";
import { exactSumOfProducts, LIMBS, type ExactSum } from "../numerics/exactSum.ts";
import { evaluateElement, type ReadElement } from "../program/evaluate.ts";
import { accumulatorTypes, isDot, isPartial } from "../program/reduction.ts";
import { Reduce, type Step, type View } from "../program/types.ts";
import { splitDigits } from "../program/view.ts";
import { epilogueStep } from "./splitStep.ts";

const ONE_BITS = 0x3f800000;

/**
 * Executes one step by the definition.
 * @param sources The bytes of the step's inputs, little-endian.
 * @returns The step's tensor, canonical.
 */
export function executeStepReference(step: Step, sources: readonly Uint8Array[]): Uint8Array {
  if (!isPlainFloatDot(step)) return evaluateAll(step, sources);
  // The definition in two parts, accumulators and then the epilogue, because exact sums over gathered bits are faster
  // than word by word.
  const [dtype] = accumulatorTypes(step) as [DType];
  const accumulators = new Uint8Array(step.count * dtypeBytes(dtype));
  const partial = isPartial(step.reduce);
  exactDots(step, sources, (index, sum) => {
    writeWord(accumulators, index, dtype, partial ? sum.limbs()[index % LIMBS]! : sum.round());
  });
  return evaluateAll(epilogueStep(step), [...sources, accumulators]);
}

function evaluateAll(step: Step, sources: readonly Uint8Array[]): Uint8Array {
  const readers = sources.map((bytes, input) => elementReader(bytes, step.inputs[input]!.dtype));
  const read: ReadElement = (input, offset) => readers[input]!(offset);
  const out = new Uint8Array(step.count * dtypeBytes(step.dtype));
  for (let i = 0; i < step.count; i++) writeWord(out, i, step.dtype, evaluateElement(step, i, read));
  return out;
}

function elementReader(bytes: Uint8Array, dtype: DType): (index: number) => Word {
  if (dtype !== DType.float32) return (index) => readWord(bytes, index, dtype);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return (index) => canonicalWord(BigInt(view.getUint32(index * 4, true)), dtype);
}

/** Whether the terms are multiplied or added as they are read, by views whose offsets plain numbers can hold. */
function isPlainFloatDot(step: Step): boolean {
  const adds = step.reduce === Reduce.sum || isDot(step.reduce) || isPartial(step.reduce);
  if (step.reduceType !== DType.float32 || !adds) return false;
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

/** Gathers the terms of each output element and passes on their exact sum. */
function exactDots(step: Step, sources: readonly Uint8Array[], write: (index: number, sum: ExactSum) => void): void {
  const terms = step.redDigits.reduce((product, radix) => product * radix, 1);
  const redDigits = Array.from({ length: terms }, (_, r) => splitDigits(r, step.redDigits));
  const a = new Uint32Array(terms);
  const b = new Uint32Array(terms).fill(ONE_BITS);
  const slots = isDot(step.reduce) ? [step.term.outA, step.term.outB] : [step.term.outA];
  const gathers = slots.map((slot, n) => {
    const view = step.termReads[slot]!;
    return termGatherer(view, sources[view.input]!, step.outDigits.length, redDigits, n === 0 ? a : b);
  });
  for (let i = 0; i < step.count; i++) {
    const outDigits = splitDigits(i, step.outDigits);
    for (const gather of gathers) gather(outDigits);
    write(i, exactSumOfProducts(a, 0, b, 0, terms));
  }
}

/** Fills `row` with the bits that a view reads for all reduction indices at given out digits. */
function termGatherer(
  view: View,
  source: Uint8Array,
  outCount: number,
  redDigits: readonly number[][],
  row: Uint32Array,
): (outDigits: readonly number[]) => void {
  const bytes = new DataView(source.buffer, source.byteOffset, source.byteLength);
  const axes = view.axes.map((axis) => ({
    ...axis,
    out: axis.coeffs.filter(({ digit }) => digit < outCount),
    red: axis.coeffs.filter(({ digit }) => digit >= outCount),
  }));
  const fill = Number(view.fill);
  return (outDigits) => {
    const starts = axes.map(({ base, out }) =>
      out.reduce((c, { digit, coeff }) => c + coeff * outDigits[digit]!, base),
    );
    for (let r = 0; r < redDigits.length; r++) {
      const offset = termOffset(redDigits[r]!, starts);
      row[r] = offset === -1 ? fill : bytes.getUint32(offset * 4, true);
    }
  };

  /** `viewOffset` in plain numbers; -1 for the fill value. */
  function termOffset(digits: readonly number[], starts: readonly number[]): number {
    let offset = 0;
    for (let n = 0; n < axes.length; n++) {
      const { extent, stride, div, red } = axes[n]!;
      let c = starts[n]!;
      for (const { digit, coeff } of red) c += coeff * digits[digit - outCount]!;
      if (c % div !== 0) return -1;
      c /= div;
      if (c < 0 || c >= extent) return -1;
      offset += c * stride;
    }
    return offset;
  }
}
