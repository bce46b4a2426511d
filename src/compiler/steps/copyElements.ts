import { dtypeBytes, writeWord } from "../../numerics/dtype.ts";
import { countUp, linearWalk } from "./linearWalk.ts";
import { Reduce, type Step } from "../../program/types.ts";

type Elements = { [index: number]: number | bigint };

/** Bytes as elements of a size; a copy if they are not aligned to it. */
function elements(bytes: Uint8Array, size: number): Elements {
  const { buffer, byteOffset, byteLength } = byteOffsetFits(bytes, size) ? bytes : Uint8Array.from(bytes);
  if (size === 1) return new Uint8Array(buffer, byteOffset, byteLength);
  if (size === 2) return new Uint16Array(buffer, byteOffset, byteLength / 2);
  if (size === 4) return new Uint32Array(buffer, byteOffset, byteLength / 4);
  return new BigUint64Array(buffer, byteOffset, byteLength / 8);
}

const byteOffsetFits = ({ byteOffset }: Uint8Array, size: number): boolean => byteOffset % size === 0;

/**
 * Computes a step that only moves data, without exact arithmetic; the same bytes as by its definition, sooner.
 * @param sources The canonical bytes of the step's inputs.
 * @returns false, having done nothing, if the step does more than that.
 */
export function copyElements(step: Step, sources: readonly Uint8Array[], into: Uint8Array): boolean {
  const [view] = step.epilogueReads;
  const moves = step.reduce === Reduce.none && step.epilogueReads.length === 1 && step.epilogue.code.length === 0;
  if (!moves || view === undefined || step.epilogue.out !== 0) return false;
  if (view.axes.some((axis) => axis.indirect !== undefined || axis.div !== 1)) return false;
  const source = sources[view.input]!;
  const size = dtypeBytes(step.dtype);
  const walk = linearWalk(view, step.outDigits);
  if (walk !== undefined) {
    if (walk.carry.every((add) => add === 1)) {
      // Neighbours are copied at once.
      into.set(source.subarray(size * walk.offset, size * (walk.offset + step.count)));
      return true;
    }
    const [from, to] = [elements(source, size), elements(into, size)];
    let at = walk.offset;
    countUp(step.outDigits, (i, counted) => {
      if (counted >= 0) at += walk.carry[counted]!;
      to[i] = from[at]!;
    });
    return true;
  }
  const digits = step.outDigits.map(() => 0);
  for (let i = 0; i < step.count; i++) {
    let offset = 0;
    for (const axis of view.axes) {
      let c = axis.base;
      for (const { digit, coeff } of axis.coeffs) c += coeff * digits[digit]!;
      if (c < 0 || c >= axis.extent) offset = NaN;
      else offset += c * axis.stride;
    }
    if (Number.isNaN(offset)) writeWord(into, i, step.dtype, view.fill);
    else for (let k = 0; k < size; k++) into[i * size + k] = source[offset * size + k]!;
    for (let d = digits.length - 1; d >= 0 && ++digits[d]! === step.outDigits[d]; d--) digits[d] = 0;
  }
  return true;
}
