import { expect } from "chai";
import { builtArtifacts } from "../../tools/write/builtArtifacts.ts";
import { PACKED, readPacked, sourcesHash } from "../../tools/setup/contracts.mjs";

const WRITE = `${PACKED} is stale: npm run write -- artifacts`;

describe("the packed artifacts", () => {
  const { hash, artifacts } = readPacked();

  it("areOfThePresentSources", () => {
    expect(hash, WRITE).to.equal(sourcesHash());
  });

  it("areWhatTheCompilerMakes_byteForByte", () => {
    expect(artifacts.map((packed) => packed.contractName)).to.deep.equal(
      builtArtifacts().map((built) => built.contractName),
    );
    for (const [index, built] of builtArtifacts().entries())
      expect(JSON.stringify(artifacts[index]), `${built.contractName}: ${WRITE}`).to.equal(JSON.stringify(built));
  });
});
