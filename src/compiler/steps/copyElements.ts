import { dtypeBytes, writeWord } from "../../numerics/dtype.ts";
import { countUp, linearWalk, type LinearWalk } from "./linearWalk.ts";
import { Reduce, type Step } from "../../program/types.ts";

type Elements = Uint8Array | Uint16Array | Uint32Array | BigUint64Array;
/** The side of squares for copying transposed elements: a square's rows and columns stay in the cache. */
const SIDE = 64;

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
    copyMatrices(elements(source, size), elements(into, size), step.outDigits, walk);
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

/** Copies the elements that a walk reads, in digit order: matrices over the two fastest digits, one after the other. */
function copyMatrices(from: Elements, to: Elements, radices: readonly number[], { offset, carry }: LinearWalk): void {
  const [slower, rows, columns] = [radices.slice(0, -2), radices.at(-2) ?? 1, radices.at(-1) ?? 1];
  const columnStride = carry.at(-1) ?? 0;
  const rowStride = (carry.at(-2) ?? 0) + columnStride * (columns - 1);
  let at = offset;
  countUp(slower, (matrix, counted) => {
    // The digit's carry continues from the end of the previous matrix.
    if (counted >= 0) at += carry[counted]! + rowStride * (rows - 1) + columnStride * (columns - 1);
    const shape = { rows, columns, rowStride, columnStride };
    copyMatrix(from as Uint32Array, to as Uint32Array, at, matrix * rows * columns, shape);
  });
}

type Matrix = { rows: number; columns: number; rowStride: number; columnStride: number };

function copyMatrix(
  from: Uint32Array,
  to: Uint32Array,
  start: number,
  target: number,
  { rows, columns, rowStride, columnStride }: Matrix,
): void {
  for (let top = 0; top < rows; top += SIDE) {
    const bottom = Math.min(rows, top + SIDE);
    for (let left = 0; left < columns; left += SIDE) {
      const right = Math.min(columns, left + SIDE);
      for (let row = top; row < bottom; row++) {
        let at = start + row * rowStride + left * columnStride;
        for (let k = target + row * columns + left; k < target + row * columns + right; k++, at += columnStride)
          to[k] = from[at]!;
      }
    }
  }
}
