import { bytesToHex, sha256, stringToBytes } from "viem";

/** What the sources use of `node:crypto`, in a page: SHA-256 of one message, as hexadecimal digits. */
export function createHash(): { update: (content: string | Uint8Array) => { digest: () => string } } {
  return {
    update: (content) => {
      const bytes = typeof content === "string" ? stringToBytes(content) : content;
      return { digest: () => bytesToHex(sha256(bytes, "bytes")).slice(2) };
    },
  };
}
