import { bytesToHex, sha256 } from "viem";

/** What kernels use of `node:crypto`, in a page: SHA-256 of one message, as hexadecimal digits. */
export function createHash(): { update: (bytes: Uint8Array) => { digest: () => string } } {
  return { update: (bytes) => ({ digest: () => bytesToHex(sha256(bytes, "bytes")).slice(2) }) };
}
