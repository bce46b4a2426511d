import type { Hash } from "./merkle/hash.ts";
import { CHUNK_BYTES } from "./merkle/sizes.ts";
import { dtypeBytes } from "../numerics/dtype.ts";
import { ProgramFormatError } from "./errors.ts";
import type { TensorRef } from "./types.ts";

const chunks = (bytes: number): number => Math.ceil(bytes / CHUNK_BYTES);

/**
 * Returns the bytes of a step's constant. Constants differing only in zeros at the last chunk's end have the same root:
 * the map holds a single version, and the function cuts or zero-fills the bytes.
 * @throws ProgramFormatError if the map lacks the constant, or holds a version with another number of chunks.
 */
export function constantBytes(
  constants: ReadonlyMap<Hash, Uint8Array>,
  ref: TensorRef & { kind: "constant" },
): Uint8Array {
  const held = constants.get(ref.root);
  const expected = ref.count * dtypeBytes(ref.dtype);
  if (held?.length === expected) return held;
  if (held === undefined || chunks(held.length) !== chunks(expected)) {
    throw new ProgramFormatError(
      `constant ${ref.root} has ${held?.length ?? "no"} bytes here, expected ${expected}; compile the model again`,
    );
  }
  const bytes = new Uint8Array(expected);
  bytes.set(held.subarray(0, expected));
  return bytes;
}
