import { DType, isInteger } from "../../numerics/dtype.ts";
import { Op } from "../../program/operations.ts";
import { Reduce, type Constant, type Step, type TensorRef, type View } from "../../program/types.ts";
import { staysInside } from "../../program/loops.ts";
import { readsInOrder } from "./plainViews.ts";

/** An int32 tensor that holds the bytes of another tensor minus a zero point. */
export type Centred = {
  /** uint8 or int8, element by element where the differences are. */
  bytes: TensorRef;
  /** The zero point: an element of a tensor, a constant, or none. */
  zero: { ref: TensorRef; view: View } | Constant | undefined;
};

const isByte = (dtype: number): boolean => dtype === DType.uint8 || dtype === DType.int8;

/** Recognises a step that subtracts the zero point from bytes, both widened, for quantised products. */
export function centred(step: Step): Centred | undefined {
  const { epilogue, epilogueReads, constants, inputs } = step;
  if (step.reduce !== Reduce.none || step.dtype !== DType.int32) return undefined;
  const firstInstruction = epilogueReads.length + constants.length;
  const instructionOf = (slot: number) => epilogue.code[slot - firstInstruction];
  /** The operand of a conversion to int32. */
  const widened = (slot: number): number | undefined => {
    const instruction = instructionOf(slot);
    return instruction?.op === Op.cast && (instruction.b as DType) === DType.int32 ? instruction.a : undefined;
  };
  const last = instructionOf(epilogue.out);
  const isDifference = last?.op === Op.sub && last.dtype === DType.int32;
  const bytesSlot = widened(isDifference ? last.a : epilogue.out);
  const bytesView = bytesSlot === undefined ? undefined : epilogueReads[bytesSlot];
  const bytes = bytesView && inputs[bytesView.input];
  if (bytes === undefined || !isByte(bytes.dtype) || !readsInOrder(bytesView!, step.outDigits, step.count))
    return undefined;
  if (!isDifference) return { bytes, zero: undefined };

  const zeroSlot = widened(last.b) ?? last.b;
  const view = epilogueReads[zeroSlot];
  if (view === undefined) {
    const zero = constants[zeroSlot - epilogueReads.length];
    return zero !== undefined && isInRange(zero, bytes.dtype) ? { bytes, zero } : undefined;
  }
  if (inputs[view.input]!.dtype !== bytes.dtype) return undefined;
  const isOne = view.axes.every(({ coeffs, indirect }) => coeffs.length === 0 && indirect === undefined);
  return isOne && staysInside(view, []) ? { bytes, zero: { ref: inputs[view.input]!, view } } : undefined;
}

/** Returns true if a constant lies in the range of a one-byte type. */
function isInRange({ dtype, value }: Constant, bytes: number): boolean {
  const number = Number(value);
  const min = bytes === DType.int8 ? -128 : 0;
  return isInteger(dtype) && number >= min && number <= min + 255;
}
