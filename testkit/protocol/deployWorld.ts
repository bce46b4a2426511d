import { network } from "hardhat";
import type { Address } from "viem";
import type { Parameters } from "../../src/chain/structs.ts";
import { SoftwareManufacturer } from "../../src/attestation/manufacturer.ts";
import { deployMarket } from "./deployMarket.ts";
const GWEI = 10n ** 9n;
export const ETHER = 10n ** 18n;

export const SINK: Address = "0x000000000000000000000000000000000000dEaD";

export const LIFETIME = 7 * 86_400;

/** A deployment that tests vary. The arithmetic follows ignition/modules/Refute.ts. */
export const PARAMETERS: Parameters = {
  baseWindow: 1_800,
  maxWindow: 86_400,
  baseClock: 3_600,
  withdrawalDelay: 172_800,
  rate: 100_000_000n,
  maxWork: 1_000_000_000_000n,
  arityBits: 4,
  maxStepGas: 12_000_000,
  maxStepBytes: 90_000,
  bondGas: 1_250_000,
  priceCap: 50n * GWEI,
  bounty: ETHER / 50n,
  collateral: (18n * ETHER) / 10n,
  penaltyBps: 500,
  sink: SINK,
};

export type TokenName = "TestToken" | "FeeToken" | "ReentrantToken";

/** Deploys everything to a chain of its own, with two manufacturers and named actors. */
export async function deployWorld(overrides: Partial<Parameters> = {}, tokenName: TokenName = "TestToken") {
  const parameters = { ...PARAMETERS, ...overrides };
  const { viem, networkHelpers } = await network.create();
  const client = await viem.getPublicClient();
  const [deployer, worker, watcher, requester, mallory, stranger] = await viem.getWalletClients();
  const actors = {
    worker: worker!,
    watcher: watcher!,
    requester: requester!,
    mallory: mallory!,
    stranger: stranger!,
  };
  const manufacturer = new SoftwareManufacturer();
  // All three test tokens share the interface of TestToken.
  const deployedToken = await viem.deployContract(tokenName);
  const token = await viem.getContractAt("TestToken", deployedToken.address);
  const elementary = await viem.deployContract("Elementary");
  const verifier = await viem.deployContract("StepVerifier", [elementary.address]);
  const rival = new SoftwareManufacturer();
  const provisioning = await viem.deployContract("Provisioning", [
    [manufacturer.id, rival.id],
    BigInt(GRID_BLOCKS),
    BigInt(LIFETIME),
  ]);
  const checker = await viem.deployContract("ProofChecker", [verifier.address]);
  const { market, vault, game } = await deployMarket(viem, {
    token: token.address,
    provisioning: provisioning.address,
    checker: checker.address,
    parameters,
  });
  const chainId = await client.getChainId();
  const world = {
    viem,
    networkHelpers,
    client,
    chainId,
    deployer: deployer!,
    ...actors,
    manufacturer,
    rival,
    token,
    verifier,
    checker,
    provisioning,
    market,
    vault,
    game,
    parameters,
    bond: await game.read.bond(),
  };
  return world;
}

export type World = Awaited<ReturnType<typeof deployWorld>>;

export type Actor = World["worker"];

/** The grid of the tests' deployments. */
export const GRID_BLOCKS = 4;
