import { isElementType, type DType } from "../numerics/dtype.ts";
import { SCOPE, SEMANTICS_VERSION, SOURCE } from "./encode.ts";
import { ProgramFormatError } from "./errors.ts";
import { HEADER_BYTES } from "./limits.ts";
import type { InputSource } from "./types.ts";

/** A tensor as a header has it: its type and its number of elements. */
export type HeaderTensor = { dtype: DType; count: number };

/** An input, and where items take it from. */
type HeaderInput = HeaderTensor & { source: InputSource };

/** An output, its checkpoint, and whether every item has the output, or only the last item. */
export type HeaderOutput = HeaderTensor & { checkpoint: number; each: boolean };

/** The facts in a program's header (docs/program.md, "Header"). */
export type HeaderFacts = {
  maxStepGas: number;
  maxStepBytes: number;
  /** How long the slowest execution of an item may take, in units of work. */
  work: bigint;
  steps: number;
  checkpoints: number;
  inputs: readonly HeaderInput[];
  outputs: readonly HeaderOutput[];
};

const OUTPUT_BYTES = 14;

/**
 * Reads a program's header.
 * @throws ProgramFormatError if the bytes are no header, or have other semantics
 */
export function readHeader(header: Uint8Array): HeaderFacts {
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  if (header.length < HEADER_BYTES.fixed)
    throw new ProgramFormatError(`a header of ${header.length} bytes, expected at least ${HEADER_BYTES.fixed}`);
  const semantics = view.getUint16(0);
  if (semantics !== SEMANTICS_VERSION)
    throw new ProgramFormatError(`a header of semantics version ${semantics}, expected ${SEMANTICS_VERSION}`);
  const [inputs, outputs] = [view.getUint16(26), view.getUint16(28)];
  const outputsAt = HEADER_BYTES.fixed + inputs * HEADER_BYTES.input;
  const bytes = outputsAt + outputs * OUTPUT_BYTES;
  if (header.length !== bytes)
    throw new ProgramFormatError(`a header of ${header.length} bytes, expected ${bytes} by what it counts`);
  const tensorAt = (at: number): HeaderTensor => {
    const [code, count] = [view.getUint8(at), Number(view.getBigUint64(at + 1))];
    if (!isElementType(code)) throw new ProgramFormatError(`a header with the unknown element type ${code}`);
    return { dtype: code, count };
  };
  const inputAt = (at: number): HeaderInput => ({ ...tensorAt(at), source: sourceAt(view, at + 9) });
  return {
    maxStepGas: view.getUint32(2),
    maxStepBytes: view.getUint32(6),
    work: view.getBigUint64(10),
    steps: view.getUint32(18),
    checkpoints: view.getUint32(22),
    inputs: Array.from({ length: inputs }, (_, k) => inputAt(HEADER_BYTES.fixed + k * HEADER_BYTES.input)),
    outputs: Array.from({ length: outputs }, (_, k) => {
      const at = outputsAt + k * OUTPUT_BYTES;
      return { ...tensorAt(at + 4), checkpoint: view.getUint32(at), each: view.getUint8(at + 13) === SCOPE.each };
    }),
  };
}

/** Reads an input's source, and the checkpoint from which a carried input is taken. */
function sourceAt(view: DataView, at: number): InputSource {
  const [code, checkpoint] = [view.getUint8(at), view.getUint32(at + 1)];
  switch (code) {
    case SOURCE.shared:
      return { kind: "shared" };
    case SOURCE.each:
      return { kind: "each" };
    case SOURCE.carried:
      return { kind: "carried", checkpoint };
    case SOURCE.index:
      return { kind: "index" };
    default:
      throw new ProgramFormatError(`a header with the unknown source ${code} of an input`);
  }
}
