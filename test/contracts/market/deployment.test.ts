import { expect } from "chai";
import { artifacts, network } from "hardhat";
import { zeroAddress, type Address, type Hex } from "viem";
import { deployMarket } from "../../../testkit/protocol/deployMarket.ts";
import { refusalOf } from "../../../testkit/protocol/refusalOf.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { PARAMETERS } from "../../../testkit/protocol/deployWorld.ts";

/** exp(1), rounded once to float32: what the step gives by which a verifier is tried. */
const KNOWN_RESULT = 0x402df854n;

describe("Deployment: contracts that do not fit together are refused", () => {
  const world = useWorld();

  const verifierOf = (semantics: bigint, word: bigint) =>
    world().viem.deployContract("ConstantVerifier", [semantics, word]);
  const checkerWith = (verifier: Address): Promise<string> =>
    refusalOf(world().viem.deployContract("ProofChecker", [verifier]));

  it("verifierWithoutCode_isRefused", async () => {
    expect(await checkerWith(zeroAddress)).to.include("NoCode");
    expect(await checkerWith(world().mallory.account.address)).to.include("NoCode");
  });

  it("verifierOfOtherSemantics_isRefused", async () => {
    for (const semantics of [0n, 1n, 3n])
      expect(await checkerWith((await verifierOf(semantics, KNOWN_RESULT)).address)).to.include("WrongSemantics");
  });

  it("verifierThatGivesAnotherResult_orNone_isRefused", async () => {
    for (const word of [0n, KNOWN_RESULT - 1n, KNOWN_RESULT + 2n ** 32n])
      expect(await checkerWith((await verifierOf(2n, word)).address)).to.include("KnownStepFails");
    // A contract, but no verifier.
    expect(await checkerWith(world().token.address)).to.not.equal("accepted");
    expect(await checkerWith((await verifierOf(2n, KNOWN_RESULT)).address)).to.equal("accepted");
  });

  it("elementaryFunctionsThatGiveAnotherResult_areFound", async () => {
    const { viem } = world();
    const wrong = await viem.deployContract("WrongElementary");
    const verifier = await viem.deployContract("StepVerifier", [wrong.address]);
    expect(await checkerWith(verifier.address)).to.include("KnownStepFails");
  });

  it("checkerWithoutCode_orOfOtherSemantics_isRefusedByTheGame", async () => {
    const { viem, market, verifier } = world();
    const game = (checker: Address) =>
      refusalOf(viem.deployContract("DisputeGame", [market.address, checker, PARAMETERS]));
    expect(await game(zeroAddress)).to.include("NoCode");
    expect(await game((await verifierOf(1n, KNOWN_RESULT)).address)).to.include("WrongSemantics");
    // A verifier is no checker: no proof could be made.
    expect(await game(verifier.address)).to.not.equal("accepted");
    expect(await game((await viem.deployContract("ProofChecker", [verifier.address])).address)).to.equal("accepted");
  });

  it("assetWithoutCode_orWithOtherDecimals_isRefusedByTheVault", async () => {
    const { viem, provisioning, market } = world();
    const vault = (asset: Address) =>
      refusalOf(viem.deployContract("StakeVault", [asset, provisioning.address, 1_000n, market.address]));
    expect(await vault(zeroAddress)).to.include("NoCode");
    for (const decimals of [6, 8, 19]) {
      const token = await viem.deployContract("DecimalsToken", [decimals]);
      expect(await vault(token.address)).to.include("NotWrappedNative");
    }
    expect(await vault((await viem.deployContract("DecimalsToken", [18])).address)).to.equal("accepted");
  });

  it("vaultOrGameOfAnotherMarket_orOfOtherParameters_isRefusedByTheMarket", async () => {
    const { viem, token, provisioning, checker, vault, game, mallory } = world();
    const { bytecode } = await artifacts.readArtifact("JobMarket");
    const deployer = await viem.deployContract("MarketDeployer");
    const market = await deployer.read.reserved();
    const delay = BigInt(PARAMETERS.withdrawalDelay);
    const newVault = (seconds: bigint) =>
      viem.deployContract("StakeVault", [token.address, provisioning.address, seconds, market]);
    const newGame = (changes: Partial<typeof PARAMETERS>) =>
      viem.deployContract("DisputeGame", [market, checker.address, { ...PARAMETERS, ...changes }]);
    const [ownVault, ownGame] = [await newVault(delay), await newGame({})];
    const newExtension = (v: Address, g: Address, changes: Partial<typeof PARAMETERS> = {}) =>
      viem.deployContract("MarketExtension", [v, g, { ...PARAMETERS, ...changes }]);
    const extension = (await newExtension(ownVault.address, ownGame.address)).address;
    const deploy = (v: Address, g: Address, e = extension) =>
      refusalOf(deployer.write.deploy([bytecode as Hex, v, g, e, PARAMETERS]));
    expect(await deploy(vault.address, ownGame.address)).to.include("NotItsMarket");
    expect(await deploy(ownVault.address, game.address)).to.include("NotItsMarket");
    expect(await deploy((await newVault(delay + 1n)).address, ownGame.address)).to.include("OtherParameters");
    expect(await deploy(ownVault.address, (await newGame({ priceCap: 1n })).address)).to.include("OtherParameters");
    const others = [
      await newExtension(vault.address, ownGame.address),
      await newExtension(ownVault.address, game.address),
      await newExtension(ownVault.address, ownGame.address, { penaltyBps: 600 }),
    ];
    for (const { address } of others)
      expect(await deploy(ownVault.address, ownGame.address, address)).to.include("OtherParameters");
    const asMallory = { account: mallory.account };
    const args = [bytecode as Hex, ownVault.address, ownGame.address, extension, PARAMETERS] as const;
    await viem.assertions.revertWithCustomError(deployer.write.deploy([...args], asMallory), deployer, "NotOwner");
    const nothing = deployer.write.deploy(["0x", ownVault.address, ownGame.address, extension, PARAMETERS]);
    await viem.assertions.revertWithCustomError(nothing, deployer, "NothingDeployed");
    // What was refused has not used the address up.
    expect(await deploy(ownVault.address, ownGame.address)).to.equal("accepted");
    const placed = await viem.getContractAt("JobMarket", market);
    expect((await placed.read.vault()).toLowerCase()).to.equal(ownVault.address.toLowerCase());
    expect((await placed.read.game()).toLowerCase()).to.equal(ownGame.address.toLowerCase());
    await viem.assertions.revertWithCustomError(deployer.write.deploy([...args]), deployer, "AlreadyDeployed");
  });

  it("deployment_isToldInOneCall", async () => {
    const { market, vault, game, checker, verifier, provisioning, token, bond } = world();
    const { parameters, semantics, bond: reported, extension, ...addresses } = await market.read.deployment();
    expect(extension).to.not.equal(zeroAddress);
    expect(parameters).to.deep.equal(PARAMETERS);
    expect([semantics, reported]).to.deep.equal([2n, bond]);
    const expected = { vault, game, checker, verifier, provisioning, asset: token };
    for (const [name, { address }] of Object.entries(expected))
      expect(addresses[name as keyof typeof addresses].toLowerCase(), name).to.equal(address.toLowerCase());
  });

  it("provisioning_onAChainWithoutP256_isRefused", async () => {
    const before = await network.create({ override: { hardfork: "prague" } });
    try {
      const deployed = before.viem.deployContract("Provisioning", [[world().manufacturer.id], 1n, 1n]);
      expect(await refusalOf(deployed)).to.include("NoP256Precompile");
    } finally {
      await before.close();
    }
  });

  it("market_fitsWhereItsDeployerPutsIt_withVaultAndGame", async () => {
    const { viem, token, provisioning, checker } = world();
    const foundation = { token: token.address, provisioning: provisioning.address, checker: checker.address };
    const { market, vault, game } = await deployMarket(viem, { ...foundation, parameters: PARAMETERS });
    expect(await vault.read.market()).to.equal(await game.read.market());
    expect((await vault.read.market()).toLowerCase()).to.equal(market.address.toLowerCase());
  });
});
