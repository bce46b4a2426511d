import type { SQLOutputValue } from "node:sqlite";
import { isZeros, sharedZeros } from "../../program/merkle/tensor.ts";

/** Bytes as ledgers hold them: of zeros only, such as the first caches of a decoder, their number. */
export const storedBytes = (bytes: Uint8Array): Uint8Array | number =>
  bytes.length > 0 && isZeros(bytes) ? bytes.length : bytes;

export const bytesOfStored = (stored: SQLOutputValue | undefined): Uint8Array =>
  typeof stored === "number" ? sharedZeros(stored) : (stored as Uint8Array);
