import { expect } from "chai";
import { createHash } from "node:crypto";
import { ModuleBuilder } from "../../../src/numerics/kernels/assembler/moduleBuilder.ts";
import { kernelMemory, MAX_PAGES } from "../../../src/numerics/kernels/memory.ts";
import { hashesFunction, hashTable } from "../../../src/numerics/kernels/sha256.ts";
import { Prng } from "../../../testkit/random/prng.ts";

const QUADS = 9;
const [TABLE, MESSAGES] = [0, 1024];

describe("SHA-256 of four messages at a time", () => {
  for (const blocks of [1, 2, 8]) {
    it(`messagesOf${blocks * 64}Bytes_haveNodesHashes`, () => {
      const builder = new ModuleBuilder();
      builder.importMemory(true, MAX_PAGES);
      builder.define(hashesFunction(blocks), "hashes");
      const memory = kernelMemory(1);
      const bytes = new Uint8Array(memory.buffer);
      const instance = new WebAssembly.Instance(new WebAssembly.Module(builder.encode()), { env: { memory } });
      const hashes = instance.exports.hashes as (...values: number[]) => void;
      const prng = new Prng(blocks);
      const size = 64 * blocks;
      const out = MESSAGES + 4 * QUADS * size;
      bytes.set(new Uint8Array(hashTable(blocks).buffer), TABLE);
      for (let at = MESSAGES; at < out; at++) bytes[at] = prng.below(256);
      hashes(MESSAGES, QUADS, out, TABLE);
      for (let n = 0; n < 4 * QUADS; n++) {
        const message = bytes.slice(MESSAGES + n * size, MESSAGES + (n + 1) * size);
        const got = Buffer.from(bytes.slice(out + 32 * n, out + 32 * (n + 1)));
        expect(got.toString("hex")).to.equal(createHash("sha256").update(message).digest("hex"));
      }
    });
  }
});
