import { network } from "hardhat";
import type { Address } from "viem";
import type { Parameters } from "../../src/chain/structs.ts";
import { SoftwareManufacturer } from "../../src/provisioning/manufacturer.ts";
import { deployMarket } from "./deployMarket.ts";
import { LIFETIME, PARAMETERS } from "./world.ts";

/** A deployment on a node, and who makes the devices that it trusts. */
export type NodeDeployment = { chainId: number; market: Address; manufacturer: SoftwareManufacturer };

/**
 * Deploys everything over HTTP, with the accounts of a development node. The stake asset is wrapped ether.
 * @param url A node that mines each transaction at once.
 */
export async function deployOnNode(url: string, overrides: Partial<Parameters> = {}): Promise<NodeDeployment> {
  const connection = await network.create({ network: "localhost", override: { url } });
  const { viem } = connection;
  const [registrar] = await viem.getWalletClients();
  const manufacturer = new SoftwareManufacturer();
  const token = await viem.deployContract("WrappedEther");
  const elementary = await viem.deployContract("Elementary");
  const verifier = await viem.deployContract("StepVerifier", [elementary.address]);
  const quoteVerifier = await viem.deployContract("DongleQuoteVerifier");
  const provisioning = await viem.deployContract("Provisioning", [
    quoteVerifier.address,
    registrar!.account.address,
    [manufacturer.id],
    3_600n,
    BigInt(LIFETIME),
  ]);
  const checker = await viem.deployContract("ProofChecker", [verifier.address]);
  const { market } = await deployMarket(viem, {
    token: token.address,
    provisioning: provisioning.address,
    checker: checker.address,
    parameters: { ...PARAMETERS, ...overrides },
  });
  const chainId = await (await viem.getPublicClient()).getChainId();
  await connection.close();
  return { chainId, market: market.address, manufacturer };
}
