import { canonicalWord, DType, dtypeBytes, floatFormat, readWord, writeWord, type Word } from "../numerics/dtype.ts";
import { LIMBS } from "../numerics/exactSum.ts";
import { evaluateElement, type ReadElement } from "../program/evaluate.ts";
import { accumulatorTypes, isPartial } from "../program/reduction.ts";
import type { Step } from "../program/types.ts";
import { exactSums } from "./exactSums.ts";
import { epilogueStep } from "./splitStep.ts";

/**
 * Executes one step by the definition.
 * @param sources The bytes of the step's inputs, little-endian.
 * @returns The step's tensor, canonical.
 */
export function executeStepReference(step: Step, sources: readonly Uint8Array[]): Uint8Array {
  const sums = exactSums(step, sources);
  if (sums === undefined) return evaluateAll(step, sources);
  // The definition in two parts: accumulators and then the epilogue.
  const [dtype] = accumulatorTypes(step) as [DType];
  const accumulators = new Uint8Array(step.count * dtypeBytes(dtype));
  const partial = isPartial(step.reduce);
  for (let i = 0; i < step.count; i++) {
    const sum = sums(i);
    writeWord(accumulators, i, dtype, partial ? sum.limb(i % LIMBS) : sum.roundTo(floatFormat(step.reduceType!)));
  }
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
