import { expect } from "chai";
import { SOURCES } from "../../src/chain/market/artifacts.ts";
import { PACKED, readPacked, sourcesHash } from "../../tools/setup/contracts.mjs";

/** `npm run verify -- contracts` compares the packed contracts with the compiler's output. */
describe("the packed artifacts", () => {
  const { hash, artifacts } = readPacked();

  it("areOfThePresentSources", () => {
    expect(hash, `${PACKED} is stale: npm run write -- artifacts`).to.equal(sourcesHash());
  });

  it("haveEachContractThatIsDeployed", () => {
    const packed = artifacts.map(({ sourceName, contractName }) => `${sourceName}:${contractName}`);
    expect(packed).to.include.members(Object.entries(SOURCES).map(([name, file]) => `contracts/${file}:${name}`));
  });
});
