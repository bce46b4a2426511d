/** The browser version of `src/program/merkle/bytes.ts`, without Node: tools/build.mjs substitutes this file. */
import { bytesToHex, hexToBytes, sha256 as hashOf } from "viem";
import { concatenated } from "../concatenated.ts";

export const sha256 = (...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> =>
  new Uint8Array(hashOf(parts.length === 1 ? parts[0]! : concatenated(parts), "bytes"));

export const toHex = bytesToHex;

export const fromHex = (hex: `0x${string}`): Uint8Array<ArrayBuffer> => new Uint8Array(hexToBytes(hex));
