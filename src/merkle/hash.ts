import { createHash } from "node:crypto";

/** A 32-byte hash as 0x and 64 lower-case hexadecimal digits. */
export type Hash = `0x${string}`;

/** SHA-256 of the parts, one after the other. */
export function sha256(...parts: readonly Uint8Array[]): Buffer {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
}

export const toHex = (bytes: Uint8Array): `0x${string}` => `0x${Buffer.from(bytes).toString("hex")}`;
export const toHash: (bytes: Uint8Array) => Hash = toHex;
export const fromHash = (hash: Hash): Buffer => Buffer.from(hash.slice(2), "hex");

const zeros: Buffer[] = [Buffer.alloc(32)];

/** Z_height: the hash of a subtree of absent leaves (docs/program.md, "Merkle lists"). */
export function zeroHash(height: number): Buffer {
  while (zeros.length <= height) {
    const last = zeros[zeros.length - 1]!;
    zeros.push(sha256(last, last));
  }
  return zeros[height]!;
}
