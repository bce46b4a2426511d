import { fromHex, sha256, toHex } from "./bytes.ts";

export { sha256, toHex };

/** A 32-byte hash as 0x and 64 lower-case hexadecimal digits. */
export type Hash = `0x${string}`;

export const toHash: (bytes: Uint8Array) => Hash = toHex;
export const fromHash: (hash: Hash) => Uint8Array<ArrayBuffer> = fromHex;

const zeros: Uint8Array[] = [new Uint8Array(32)];

/** Returns Z_height: the hash of a subtree with absent leaves only (docs/program.md, "Merkle lists"). */
export function zeroHash(height: number): Uint8Array {
  while (zeros.length <= height) {
    const last = zeros[zeros.length - 1]!;
    zeros.push(sha256(last, last));
  }
  return zeros[height]!;
}
