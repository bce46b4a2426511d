import type { Address } from "viem";
import { connect } from "../../chain/connect.ts";
import type { Parameters } from "../../chain/structs.ts";
import { deployContracts, deployWrappedEther } from "../network/deployContracts.ts";
import { parametersOfKind, readParameters } from "../network/parameters.ts";
import { SoftwareManufacturer } from "../../attestation/manufacturer.ts";
import { CHAIN_ID, developmentAccount } from "./accounts.ts";

/** A market on a local node, and who makes the devices that it trusts. */
export type LocalDeployment = { chainId: number; market: Address; manufacturer: SoftwareManufacturer };

/** How often is looked for a block. */
const POLLING_MS = 50;

/**
 * Deploys all contracts on a local node that mines each transaction at once. The stake asset is wrapped ether. Every
 * block is on the grid of reports, because the local chain mines only requested blocks.
 * @param changes Parameters that differ from Ethereum's L1 (ignition/parameters/l1.json5).
 * @param manufacturer Makes the devices that the market trusts.
 * @throws DeployFailedError
 */
export async function deployLocally(
  url: string,
  changes: Partial<Parameters>,
  manufacturer = new SoftwareManufacturer(),
): Promise<LocalDeployment> {
  const publicClient = await connect({ rpcUrls: [url] }, CHAIN_ID);
  const deployer = { publicClient, account: developmentAccount(9), confirmations: 1, pollingMs: POLLING_MS };
  const asset = await deployWrappedEther(deployer);
  const parameters = { ...readParameters(parametersOfKind("l1")), ...changes };
  const market = await deployContracts(deployer, {
    parameters,
    asset,
    manufacturers: [manufacturer.id],
    gridBlocks: 1,
  });
  return { chainId: CHAIN_ID, market, manufacturer };
}
