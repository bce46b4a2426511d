import { concatenated } from "../../src/merkle/concatenated.ts";

/** What the compiler uses of the global objects of Node, where there are none. */
const node = {
  Buffer: {
    concat: (parts: readonly Uint8Array[]): Uint8Array => concatenated(parts),
    compare: (a: Uint8Array, b: Uint8Array): number => {
      const at = a.findIndex((byte, k) => byte !== b[k]);
      if (at === -1) return a.length - b.length;
      return at >= b.length ? 1 : a[at]! - b[at]!;
    },
  },
  process: { constrainedMemory: (): number => 0 },
};

/** Puts it in its place. */
export const installGlobals = (): unknown => Object.assign(globalThis, node);
