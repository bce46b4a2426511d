import { isDType, type DType } from "../numerics/dtype.ts";
import { SEMANTICS_VERSION } from "./encode.ts";
import { ProgramFormatError } from "./errors.ts";
import { HEADER_BYTES } from "./limits.ts";

/** A tensor as a header has it: its type and its number of elements. */
export type HeaderTensor = { dtype: DType; count: number };

/** What the header of a program says of it (docs/program.md, "Header"). */
export type HeaderFacts = {
  maxStepGas: number;
  maxStepBytes: number;
  /** Terms that an execution evaluates. */
  work: bigint;
  steps: number;
  checkpoints: number;
  inputs: readonly HeaderTensor[];
  outputs: readonly HeaderTensor[];
};

const OUTPUT_BYTES = 14;

/**
 * Reads the header of a program.
 * @throws ProgramFormatError if it is none, or one of other semantics
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
    if (!isDType(code)) throw new ProgramFormatError(`a header with the unknown element type ${code}`);
    return { dtype: code, count };
  };
  return {
    maxStepGas: view.getUint32(2),
    maxStepBytes: view.getUint32(6),
    work: view.getBigUint64(10),
    steps: view.getUint32(18),
    checkpoints: view.getUint32(22),
    inputs: Array.from({ length: inputs }, (_, k) => tensorAt(HEADER_BYTES.fixed + k * HEADER_BYTES.input)),
    outputs: Array.from({ length: outputs }, (_, k) => tensorAt(outputsAt + k * OUTPUT_BYTES + 4)),
  };
}
