import { toHash } from "./merkle/hash.ts";
import { DType, isElementType } from "../numerics/dtype.ts";
import { ByteReader } from "./bytes.ts";
import { ProgramFormatError } from "./errors.ts";
import { signature, type Op } from "./operations.ts";
import { Reduce, type Axis, type Instruction, type Step, type TensorRef, type View } from "./types.ts";

/**
 * Decodes a step body. Checks the encoding only; `validateStep` checks the rest.
 * @param head Output type and count, from the step's leaf.
 * @throws ProgramFormatError if the bytes are truncated, too long, or name an unknown type, operation or reduction.
 */
export function decodeStepBody(bytes: Uint8Array, head: { dtype: DType; count: number }): Step {
  const r = new ByteReader(bytes);
  const inputs = list(r, () => decodeRef(r));
  const outDigits = list(r, () => r.unsigned(4));
  const redDigits = list(r, () => r.unsigned(4));
  const reduce = r.unsigned(1) as Reduce;
  if (!(Object.values(Reduce) as number[]).includes(reduce))
    throw new ProgramFormatError(`unknown reduction ${reduce}`);
  const reduceCode = r.unsigned(1);
  if ((reduce === Reduce.none) !== (reduceCode === 0))
    throw new ProgramFormatError(`reduction ${reduce} with type ${reduceCode}`);
  const constants = list(r, () => {
    const dtype = decodeDType(r);
    return { dtype, value: decodeWord(r, dtype) };
  });
  const termReads = list(r, () => decodeView(r, inputs));
  const epilogueReads = list(r, () => decodeView(r, inputs));
  const term = { code: list(r, () => decodeInstruction(r)), outA: r.unsigned(1), outB: r.unsigned(1) };
  const epilogue = { code: list(r, () => decodeInstruction(r)), out: r.unsigned(1) };
  r.finish();
  return {
    ...head,
    inputs,
    outDigits,
    redDigits,
    reduce,
    ...(reduce === Reduce.none ? {} : { reduceType: asDType(reduceCode) }),
    constants,
    termReads,
    epilogueReads,
    term,
    epilogue,
  };
}

function list<T>(r: ByteReader, read: () => T): T[] {
  return Array.from({ length: r.unsigned(1) }, read);
}

function asDType(code: number): DType {
  if (!isElementType(code)) throw new ProgramFormatError(`unknown element type ${code}`);
  return code;
}

const decodeDType = (r: ByteReader): DType => asDType(r.unsigned(1));

function decodeRef(r: ByteReader): TensorRef {
  const kind = r.unsigned(1);
  const dtype = decodeDType(r);
  const count = r.unsigned(8);
  if (kind === 0) return { kind: "input", index: r.unsigned(4), dtype, count };
  if (kind === 1) return { kind: "constant", root: toHash(r.raw(32)), dtype, count };
  if (kind === 2) return { kind: "step", index: r.unsigned(4), dtype, count };
  throw new ProgramFormatError(`unknown input kind ${kind}`);
}

/** A word as it is written: see `encodeStepBody`. */
const decodeWord = (r: ByteReader, dtype: DType | undefined): bigint =>
  dtype === DType.float64 ? r.big(8) : r.signedBig(8);

function decodeView(r: ByteReader, inputs: readonly TensorRef[]): View {
  const input = r.unsigned(1);
  return { input, fill: decodeWord(r, inputs[input]?.dtype), axes: list(r, () => decodeAxis(r)) };
}

function decodeAxis(r: ByteReader): Axis {
  const fixed = { extent: r.unsigned(4), stride: r.unsigned(4), base: r.signed(4), div: r.unsigned(4) };
  const indirect = r.unsigned(1);
  const coeffs = list(r, () => ({ digit: r.unsigned(1), coeff: r.signed(4) }));
  return { ...fixed, ...(indirect === 255 ? {} : { indirect }), coeffs };
}

function decodeInstruction(r: ByteReader): Instruction {
  const op = r.unsigned(1) as Op;
  if (!signature(op)) throw new ProgramFormatError(`unknown operation 0x${op.toString(16)}`);
  return { op, dtype: decodeDType(r), a: r.unsigned(1), b: r.unsigned(1), c: r.unsigned(1) };
}
