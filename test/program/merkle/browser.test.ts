import { expect } from "chai";
import fc from "fast-check";
import * as inBrowsers from "../../../src/program/merkle/browser/bytes.ts";
import * as kernelInBrowsers from "../../../src/program/merkle/browser/hashKernel.ts";
import * as inNode from "../../../src/program/merkle/bytes.ts";
import * as kernelInNode from "../../../src/program/merkle/hashKernel.ts";

describe("hashing in browsers", () => {
  it("bytes_areHashedAndWritten_asInNode", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 4 }), (parts) => {
        const hash = inNode.sha256(...parts);
        expect(inBrowsers.toHex(inBrowsers.sha256(...parts))).to.equal(inNode.toHex(hash));
        expect([...inBrowsers.fromHex(inNode.toHex(hash))]).to.deep.equal([...hash]);
      }),
    );
  });

  it("chunksAndPairs_areHashedAsInNode_alsoTheLastThatIsNotFull", () => {
    const zero = new Uint8Array(32).fill(7);
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 5_000 }), (bytes) => {
        const nodes = bytes.subarray(0, Math.max(32, bytes.length - (bytes.length % 32)));
        const level = nodes.length < 32 ? zero : nodes;
        const chunks = [kernelInNode, kernelInBrowsers].map(({ hashChunks }) => {
          const out = new Uint8Array(Math.ceil(bytes.length / 512) * 32);
          hashChunks(bytes, out);
          return [...out];
        });
        expect(chunks[1]).to.deep.equal(chunks[0]);
        const pairs = [kernelInNode, kernelInBrowsers].map(({ hashPairs }) => {
          const out = new Uint8Array(Math.ceil(level.length / 64) * 32);
          hashPairs(level, zero, out);
          return [...out];
        });
        expect(pairs[1]).to.deep.equal(pairs[0]);
      }),
    );
  });
});
