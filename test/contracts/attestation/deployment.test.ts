import { expect } from "chai";
import { network } from "hardhat";
import { toHex, zeroHash, type Hex } from "viem";
import { refusalOf } from "../../../testkit/protocol/refusalOf.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { LIFETIME, GRID_BLOCKS } from "../../../testkit/protocol/deployWorld.ts";

const id = (k: number): Hex => toHex(k, { size: 32 });
const ids = (count: number): Hex[] => Array.from({ length: count }, (_, k) => id(k + 1));
const YEAR = 365n * 86_400n;
const P256_PRECOMPILE = "0x0000000000000000000000000000000000000100";

describe("Provisioning: deployment", () => {
  const world = useWorld();
  const deploy = (manufacturers: readonly Hex[], gridBlocks: bigint, lifetime: bigint) =>
    refusalOf(world().viem.deployContract("Provisioning", [[...manufacturers], gridBlocks, lifetime]));

  it("deploy_tellsWhatItWasDeployedWith", async () => {
    const { provisioning, manufacturer, rival } = world();
    expect(await provisioning.read.manufacturers()).to.deep.equal([manufacturer.id, rival.id]);
    expect(await provisioning.read.gridBlocks()).to.equal(BigInt(GRID_BLOCKS));
    expect(await provisioning.read.reportLifetime()).to.equal(BigInt(LIFETIME));
  });

  it("deploy_manufacturers_areOneTo32Different", async () => {
    expect(await deploy([], 1n, 1n)).to.include("NoManufacturers");
    expect(await deploy(ids(33), 1n, 1n)).to.include("TooManyManufacturers(33, 32)");
    expect(await deploy([id(1), zeroHash], 1n, 1n)).to.include("ZeroManufacturer");
    expect(await deploy([id(1), id(2), id(1)], 1n, 1n)).to.include(`ManufacturerTwice(${id(1)})`);
    for (const count of [1, 32]) expect(await deploy(ids(count), 1n, 1n)).to.equal("accepted");
  });

  it("deploy_gridAndLifetime_areInTheirRanges", async () => {
    for (const grid of [0n, 129n]) expect(await deploy(ids(1), grid, 1n)).to.include(`GridOutOfRange(${grid}, 128)`);
    for (const lifetime of [0n, YEAR + 1n])
      expect(await deploy(ids(1), 1n, lifetime)).to.include(`LifetimeOutOfRange(${lifetime}, ${YEAR})`);
    expect(await deploy(ids(1), 128n, YEAR)).to.equal("accepted");
  });

  it("deploy_onAChainThatTakesEverySignature_isRefused", async () => {
    // Returns 1 whatever it is asked: PUSH1 1, PUSH0, MSTORE, PUSH1 32, PUSH0, RETURN.
    expect(await deployWith("0x60015f5260205ff3")).to.include("NoP256Precompile");
  });

  it("deploy_onAChainWhosePrecompileSaysNothing_isRefused", async () => {
    expect(await deployWith("0x00")).to.include("NoP256Precompile");
  });

  it("deploy_beforeTheSecondBlock_isRefused", async () => {
    const chain = await network.create();
    try {
      const deployed = chain.viem.deployContract("Provisioning", [ids(1), 1n, 1n]);
      expect(await refusalOf(deployed)).to.include("NoBlockHashes");
      await chain.networkHelpers.mine(1);
      expect(await refusalOf(chain.viem.deployContract("Provisioning", [ids(1), 1n, 1n]))).to.equal("accepted");
    } finally {
      await chain.close();
    }
  });

  /** Deploys on a chain without the precompile, where other code stands at its address. */
  async function deployWith(code: Hex): Promise<string> {
    const chain = await network.create({ override: { hardfork: "prague" } });
    try {
      await chain.networkHelpers.setCode(P256_PRECOMPILE, code);
      return await refusalOf(chain.viem.deployContract("Provisioning", [ids(1), 1n, 1n]));
    } finally {
      await chain.close();
    }
  }
});
