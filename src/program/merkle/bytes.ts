import { createHash } from "node:crypto";

/** SHA-256 of the parts, one after the other. */
export function sha256(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** 0x and the bytes as lower-case hexadecimal digits. */
export const toHex = (bytes: Uint8Array): `0x${string}` => `0x${Buffer.from(bytes).toString("hex")}`;

/** The bytes of 0x and hexadecimal digits. */
export const fromHex = (hex: `0x${string}`): Uint8Array<ArrayBuffer> => Buffer.from(hex.slice(2), "hex");
