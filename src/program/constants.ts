import type { Hash } from "./merkle/hash.ts";
import { CHUNK_BYTES } from "./merkle/sizes.ts";
import { dtypeBytes } from "../numerics/dtype.ts";
import { ProgramFormatError } from "./errors.ts";
import type { TensorRef } from "./types.ts";

const chunks = (bytes: number): number => Math.ceil(bytes / CHUNK_BYTES);

/**
 * Returns the bytes of the constant that a step refers to. Constants that differ only in zeros at the end of their last
 * chunk have one root: the map holds one such constant, and the function cuts or zero-fills the bytes.
 * @throws ProgramFormatError if the map lacks the constant, or holds one with another number of chunks.
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
