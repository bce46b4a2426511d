import { dtypeBytes, writeWord } from "../numerics/dtype.ts";
import { Reduce, type Step } from "../program/types.ts";

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
