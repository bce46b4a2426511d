import { expect } from "chai";
import hre from "hardhat";
import { createRequire } from "node:module";
import { BUILD_NAMES, buildOf, DEFAULT_STEPS, UnknownBuild } from "../../../tools/verify/builds/build.ts";

const require = createRequire(import.meta.url);

/** The settings of Hardhat by which a build profile compiles. */
const { profiles } = hre.config.solidity;

describe("builds of the contracts", () => {
  it("defaultSteps_areThoseInTheCompilersMemory", () => {
    // Loaded anew: what it was given to compile in this process, by Hardhat for another test, would be in its memory.
    const path = require.resolve("solc/soljson.js");
    delete require.cache[path];
    const { HEAPU8 } = require(path) as { HEAPU8: Uint8Array };
    const memory = Buffer.from(HEAPU8.buffer);
    // Strings of C end with a zero byte. The sequence is the only one that ends like this.
    const at = memory.indexOf(`${DEFAULT_STEPS}\0`, 0, "latin1");
    expect(at).to.be.at.least(0);
    expect(memory.lastIndexOf("jmul[jul]", undefined, "latin1")).to.equal(at + DEFAULT_STEPS.indexOf("jmul[jul]"));
  });

  it("buildWithoutStaleKnowledge_leavesOutLoadResolverAndEqualStoreEliminatorOnly", () => {
    const { optimizer } = buildOf("noStaleKnowledge").settings;
    const steps = optimizer.details?.yulDetails?.optimizerSteps;
    expect(steps).to.not.match(/[LE]/);
    expect(steps!.length).to.equal(DEFAULT_STEPS.length - [...DEFAULT_STEPS.matchAll(/[LE]/g)].length);
  });

  it("builds_haveFoldersOfTheirOwn", () => {
    const folders = BUILD_NAMES.flatMap((name) => [buildOf(name).artifacts, buildOf(name).cache]);
    expect(new Set(folders).size).to.equal(folders.length);
  });

  it("onlyTheShippedBuild_obeysTheLimitOfSize", () => {
    expect(BUILD_NAMES.filter((name) => !buildOf(name).unlimited)).to.deep.equal(["shipped"]);
  });

  it("whatIgnitionDeploys_isWhatTestsCompile_inOneBuild", () => {
    expect(JSON.stringify(profiles.production)).to.equal(JSON.stringify(profiles.default));
    // Files alone would give build infos without contracts, which `hardhat node` cannot read.
    expect(profiles.production!.isolated).to.equal(false);
  });

  it("unknownBuild_isRefusedByName", () => {
    expect(() => buildOf("fast")).to.throw(UnknownBuild, 'there is no build "fast"');
  });
});
