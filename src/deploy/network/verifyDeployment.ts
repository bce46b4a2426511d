import { parseAbi, type Address, type PublicClient } from "viem";
import { DEFAULT_GRID_BLOCKS, DEFAULT_REPORT_LIFETIME } from "../../../ignition/defaults.ts";
import { ProvisioningReader } from "../../chain/clients/provisioning.ts";
import { readDeployment, type Deployment } from "../../chain/market/deployment.ts";
import { hasCodeOf } from "./compareCode.ts";
import type { MarketPlan } from "./deployContracts.ts";
import { DeployFailedError } from "./errors.ts";

/**
 * Reads a deployment back from the chain and compares it with what was asked for.
 * @throws DeployFailedError that names what differs; RpcUnavailableError
 */
export async function verifyDeployment(
  publicClient: PublicClient,
  market: Address,
  plan: MarketPlan,
): Promise<Deployment> {
  const { parameters, asset, verifier, manufacturers } = plan;
  const deployment = await readDeployment(publicClient, market);
  const same = (what: string, found: unknown, expected: unknown): void => {
    if (String(found).toLowerCase() !== String(expected).toLowerCase())
      throw new DeployFailedError(
        `the deployment at ${market} has ${what} ${String(found)}, not ${String(expected)}: do not use it. ` +
          "Deploy again with another --folder",
      );
  };
  for (const [name, value] of Object.entries(parameters))
    same(name, deployment.parameters[name as keyof typeof parameters], value);
  same("the asset", deployment.asset, asset);
  if (verifier !== undefined) same("the verifier", deployment.verifier, verifier);
  const provisioning = new ProvisioningReader(deployment.provisioning, { publicClient });
  same("the manufacturers", (await provisioning.manufacturers()).join(", "), manufacturers.join(", "));
  same("gridBlocks", await provisioning.gridBlocks(), plan.gridBlocks ?? DEFAULT_GRID_BLOCKS);
  same("reportLifetime", await provisioning.reportLifetime(), plan.reportLifetime ?? DEFAULT_REPORT_LIFETIME);
  const proofs = await publicClient.readContract({ address: deployment.extension, abi, functionName: "proofs" });
  const addresses = { ...contractsOf(deployment), proofs };
  for (const [key, name] of Object.entries(NAMES)) {
    const address = addresses[key as keyof typeof NAMES];
    if (await hasCodeOf(publicClient, name, address)) continue;
    throw new DeployFailedError(
      `the code at ${address}, the deployment's ${key}, is not that of this package: do not use the deployment`,
    );
  }
  return deployment;
}

const abi = parseAbi(["function proofs() view returns (address)"]);

/** The contract names of the package, by address file name. */
const NAMES = {
  market: "JobMarket",
  vault: "StakeVault",
  game: "DisputeGame",
  extension: "MarketExtension",
  proofs: "ProofExtension",
  checker: "ProofChecker",
  verifier: "StepVerifier",
  provisioning: "Provisioning",
} as const;

/** Returns a deployment's contracts, by address file name. */
export const contractsOf = ({ market, vault, game, extension, checker, ...others }: Deployment) => {
  const { verifier, provisioning, asset } = others;
  return { market, vault, game, extension, checker, verifier, provisioning, asset };
};
