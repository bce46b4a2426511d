import { getOrAdd } from "../base/getOrAdd.ts";
import { DType, dtypeBytes, type DType as DTypeCode } from "../numerics/dtype.ts";
import { exactSumOfProducts, type ExactSum } from "../numerics/exactSum.ts";
import { isPlainFloatSum } from "../program/loops.ts";
import { isDot } from "../program/reduction.ts";
import type { Axis, Step, View } from "../program/types.ts";
import { splitDigits } from "../program/view.ts";
import { coordinate, wholeCoordinate, type Coordinate } from "./coordinates.ts";
import { widenedBits } from "./halfBits.ts";

const ONE_BITS = 0x3f800000;

/**
 * Returns a function that computes the exact sum for each element of a step, from gathered bits. Gathering runs faster
 * than reading word by word.
 * @param sources The bytes of the step's inputs, little-endian.
 * @returns undefined unless the step just sums floats of at most 32 bits (`isPlainFloatSum`)
 */
export function exactSums(step: Step, sources: readonly Uint8Array[]): ((index: number) => ExactSum) | undefined {
  if (!isPlainFloatSum(step)) return undefined;
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

/** Fills a row with the float32 bits that a view reads for all reduction indices at given out digits. */
type Gather = (outDigits: readonly number[]) => void;

function termGatherer(step: Step, view: View, source: Uint8Array, row: Uint32Array): Gather {
  const bits = bitsOf(source, step.inputs[view.input]!.dtype);
  const whole = wholeCoordinate(step, view);
  if (whole !== undefined) {
    const { moves, start } = coordinate(step, whole, new Int32Array(row.length));
    const { words, widened } = bits;
    return (outDigits) => {
      const first = start(outDigits);
      if (widened === undefined) for (let r = 0; r < row.length; r++) row[r] = words[first + moves[r]!]!;
      else for (let r = 0; r < row.length; r++) row[r] = widened[words[first + moves[r]!]!]!;
    };
  }
  const axes = view.axes.map((axis) => ({ ...axis, ...coordinate(step, axis, new Float64Array(row.length)) }));
  const fill = bits.widened === undefined ? Number(view.fill) : bits.widened[Number(view.fill)]!;
  return (outDigits) => {
    const starts = axes.map(({ start }) => start(outDigits));
    for (let r = 0; r < row.length; r++) {
      const offset = termOffset(axes, starts, r);
      const word = offset === -1 ? undefined : bits.words[offset]!;
      row[r] = word === undefined ? fill : (bits.widened?.[word] ?? word);
    }
  };
}

/** `viewOffset` of term r in plain numbers; -1 for the fill value. */
function termOffset(axes: readonly (Axis & Coordinate)[], starts: readonly number[], r: number): number {
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

/**
 * Returns the words of a float tensor with at most 32 bits per element. For 16-bit floats, also returns each element's
 * float32 bits.
 * @param source The tensor's bytes, copied unless aligned to words. A Buffer's own slices are views.
 */
function bitsOf(
  source: Uint8Array,
  dtype: DTypeCode,
): { words: Uint16Array | Uint32Array; widened: Uint32Array | undefined } {
  const size = dtypeBytes(dtype);
  const { buffer, byteOffset, byteLength } = source.byteOffset % size === 0 ? source : new Uint8Array(source);
  if (dtype === DType.float32)
    return { words: new Uint32Array(buffer, byteOffset, byteLength / size), widened: undefined };
  return { words: new Uint16Array(buffer, byteOffset, byteLength / size), widened: widenedTable(dtype) };
}

const tables = new Map<DTypeCode, Uint32Array>();

/** The float32 bits of every float of 16 bits. */
const widenedTable = (dtype: DTypeCode): Uint32Array =>
  getOrAdd(tables, dtype, () => Uint32Array.from({ length: 2 ** 16 }, (_, word) => widenedBits(word, dtype)));
