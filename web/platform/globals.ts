import { concatenated } from "../../src/program/merkle/concatenated.ts";

/** What compiler and executor use of the global objects of Node, where there are none. */
const node = {
  Buffer: {
    /** As text, each byte is a character of Latin 1: the executor's names for functions that it knows. */
    from: (bytes: ArrayLike<number>) => ({ toString: (): string => characters(Uint8Array.from(bytes)) }),
    byteLength: (text: string): number => new TextEncoder().encode(text).length,
    concat: (parts: readonly Uint8Array[]): Uint8Array => concatenated(parts),
    compare: (a: Uint8Array, b: Uint8Array): number => {
      const at = a.findIndex((byte, k) => byte !== b[k]);
      if (at === -1) return a.length - b.length;
      return at >= b.length ? 1 : a[at]! - b[at]!;
    },
  },
  process: { constrainedMemory: (): number => 0 },
};

/** Characters that one call makes, at most. */
const PIECE = 2 ** 13;

function characters(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += PIECE) text += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  return text;
}

/**
 * Puts it in its place. Pages that are not isolated from others do not have the name of shared memory, which they may
 * well make.
 */
export function installGlobals(): void {
  Object.assign(globalThis, node);
  if (typeof SharedArrayBuffer !== "undefined") return;
  const { buffer } = new WebAssembly.Memory({ initial: 0, maximum: 0, shared: true });
  Object.assign(globalThis, { SharedArrayBuffer: buffer.constructor });
}
