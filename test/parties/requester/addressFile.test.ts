import { expect } from "chai";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEPLOYED, parseAddressFile, targetOf } from "../../../src/chain/market/addressFile.ts";
import { AddressFileError } from "../../../src/chain/market/errors.ts";
import { readAddressFile } from "../../../src/chain/market/readAddressFile.ts";

describe("address files", function () {
  let folder: string;
  before(() => void (folder = mkdtempSync(join(tmpdir(), "refute-"))));
  after(() => rmSync(folder, { recursive: true }));

  // An address with letters, so that its checksum shows.
  const address = (k: number): string => `0x${"ab".repeat(19)}0${k}`;
  const contracts = Object.fromEntries([...DEPLOYED, "proofs"].map((name, k) => [name, address(k)]));
  const file = { format: 1, chainId: 31_337, block: 7, contracts, parameters: { baseWindow: 60, bounty: "20" } };

  it("addressFile_isRead_andNamesWhatOpensASession", function () {
    const path = join(folder, "31337.json");
    writeFileSync(path, JSON.stringify(file));
    const read = readAddressFile(path);
    expect(read.contracts.market).to.match(/^0x[0-9a-fA-F]{40}$/);
    expect(read.contracts.proofs?.toLowerCase()).to.equal(contracts.proofs);
    expect({ ...read, contracts: undefined }).to.deep.equal({ ...file, contracts: undefined });
    expect(targetOf(read)).to.deep.equal({ chainId: 31_337, market: read.contracts.market, fromBlock: 7n });
  });

  it("fileThatIsNone_isRefusedByItsField", function () {
    const { market, ...others } = contracts;
    const refusals: [change: object, words: string][] = [
      [{ format: 9 }, 'field "format": expected 1, got 9'],
      [{ chainId: 0 }, 'field "chainId": expected a whole number from 1 on, got 0'],
      [{ block: "7" }, 'field "block": expected a whole number from 0 on, got "7"'],
      [{ contracts: others }, 'contracts: field "market": expected 0x and 40 hexadecimal digits, got nothing'],
      [{ contracts: { ...others, market: `${market}00` } }, 'field "market": expected 0x and 40 hexadecimal digits'],
      [{ parameters: { bounty: [] } }, 'parameters: field "bounty": expected a number or text, got a list'],
    ];
    for (const [change, words] of refusals)
      expect(() => parseAddressFile({ ...file, ...change })).to.throw(AddressFileError, words);
  });

  it("fileThatCannotBeRead_isRefusedByItsName", function () {
    const path = join(folder, "broken.json");
    writeFileSync(path, "{");
    expect(() => readAddressFile(path)).to.throw(
      AddressFileError,
      /broken\.json: the address file is no JSON document/,
    );
    expect(() => readAddressFile(join(folder, "no.json"))).to.throw(AddressFileError, /no\.json: .* is missing/);
  });
});
