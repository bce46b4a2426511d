import type { SQLOutputValue } from "node:sqlite";
import { isZeros, sharedZeros } from "../../program/merkle/tensor.ts";

/** Returns bytes in the form of ledgers: for zeros, such as the first caches of a decoder, the number of bytes. */
export const storedBytes = (bytes: Uint8Array): Uint8Array | number =>
  bytes.length > 0 && isZeros(bytes) ? bytes.length : bytes;

export const bytesOfStored = (stored: SQLOutputValue | undefined): Uint8Array =>
  typeof stored === "number" ? sharedZeros(stored) : (stored as Uint8Array);
