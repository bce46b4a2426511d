/**
 * The browser version of `src/program/merkle/hashKernel.ts`, without WebAssembly, which pages may forbid:
 * tools/build.mjs substitutes this file in the bundle for browsers.
 */
import { CHUNK_BYTES, HASH_BYTES } from "../sizes.ts";
import { sha256 } from "./bytes.ts";

function hashAll(messages: Uint8Array, bytes: number, filling: Uint8Array | undefined, out: Uint8Array): void {
  for (let from = 0; from < messages.length; from += bytes) {
    const message = new Uint8Array(bytes);
    const part = messages.subarray(from, from + bytes);
    message.set(part);
    if (part.length < bytes && filling !== undefined) message.set(filling, part.length);
    out.set(sha256(message), (from / bytes) * HASH_BYTES);
  }
}

export const hashChunks = (bytes: Uint8Array, out: Uint8Array): void => hashAll(bytes, CHUNK_BYTES, undefined, out);

export const hashPairs = (level: Uint8Array, zero: Uint8Array, out: Uint8Array): void =>
  hashAll(level, 2 * HASH_BYTES, zero, out);
