import { expect } from "chai";
import { concatHex, stringToHex, type Hex } from "viem";
import {
  InputReferenceError,
  parseReference,
  referencesIn,
  referenceSuffix,
} from "../../../src/chain/market/references.ts";

const CID = "bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi";
const URIS = [
  "https://files.example/a%20b?x=1",
  `ipfs://${CID}/inputs.bin`,
  "s3://my-bucket/jobs/1.bin",
  `blobs:0x${"ab".repeat(32)},0x${"01".repeat(32)}`,
];

describe("references to inputs", () => {
  it("placesThatAreNamed_areReadBack_behindAnyCalldata", () => {
    for (const calldata of ["0x", "0x12345678", stringToHex("refute:inputs/1")] as const)
      expect(referencesIn(concatHex([calldata, referenceSuffix(URIS)])).map(({ uri }) => uri)).to.deep.equal(URIS);
    expect(URIS.map((uri) => parseReference(uri))).to.deep.equal([
      { kind: "web", uri: URIS[0], url: URIS[0] },
      { kind: "ipfs", uri: URIS[1], path: `${CID}/inputs.bin` },
      { kind: "s3", uri: URIS[2], bucket: "my-bucket", key: "jobs/1.bin" },
      { kind: "blobs", uri: URIS[3], transactions: [`0x${"ab".repeat(32)}`, `0x${"01".repeat(32)}`] },
    ]);
  });

  it("whatIsNoPlace_isNotPosted", () => {
    for (const uri of [
      "",
      "x",
      "file:///etc/passwd",
      "ftp://files.example/x",
      "https://",
      "https://user:word@files.example/x",
      "https://files.example/a b",
      "https://files.example/a\nb",
      "https://files.example/\u202e",
      "ipfs://short",
      `ipfs://${CID}/../x`,
      `ipfs://${CID}/./x`,
      `ipfs://${CID}/%2e%2e/x`,
      `ipfs://${CID}/.%2E/x`,
      "s3://bucket/%2e%2e/x",
      "s3://B/x",
      "s3://bucket/../x",
      "s3://bucket/",
      "data:,x",
      "blobs:0x12",
      `blobs:${Array.from({ length: 31 }, () => `0x${"ab".repeat(32)}`).join()}`,
    ])
      expect(() => referenceSuffix([uri]), uri).to.throw(InputReferenceError);
    expect(() => referenceSuffix([])).to.throw(InputReferenceError);
    expect(() => referenceSuffix(Array.from({ length: 5 }, () => URIS[0]!))).to.throw(InputReferenceError);
    expect(() => referenceSuffix([`https://files.example/${"x".repeat(2_048)}`])).to.throw(InputReferenceError);
  });

  it("calldataOfStrangers_namesNothing_andFailsNowhere", () => {
    const mark = stringToHex("refute:inputs/1");
    const hostile: Hex[] = ["0x", "0x00", mark, concatHex(["0x0000", mark]), concatHex(["0xffff", mark])];
    hostile.push(concatHex([stringToHex("file:///etc/passwd"), "0x0012", mark]));
    hostile.push(concatHex(["0xff", "0x0001", mark]), concatHex([stringToHex("\n\n\n\n\n"), "0x0005", mark]));
    for (const calldata of hostile) expect(referencesIn(calldata), calldata).to.deep.equal([]);
  });
});
