import { expect } from "chai";
import { builtArtifacts } from "../../tools/write/artifacts.ts";
import { PACKED, readPacked, sourcesHash } from "../../tools/setup/contracts.mjs";

const WRITE = `${PACKED} is stale: npx tsx tools/write/artifacts.ts`;

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
