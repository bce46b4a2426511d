import { numberToHex, parseAbi, type Address, type PublicClient } from "viem";
import { DEFAULT_GRID_BLOCKS, DEFAULT_REPORT_LIFETIME } from "../../../ignition/defaults.ts";
import { ProvisioningReader } from "../../chain/clients/provisioning.ts";
import { readDeployment, type Deployment } from "../../chain/market/deployment.ts";
import type { ContractName } from "../../chain/market/artifacts.ts";
import { immutablesOf } from "./compareCode.ts";
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
  const [gridBlocks, reportLifetime] = [await provisioning.gridBlocks(), await provisioning.reportLifetime()];
  same("gridBlocks", gridBlocks, plan.gridBlocks ?? DEFAULT_GRID_BLOCKS);
  same("reportLifetime", reportLifetime, plan.reportLifetime ?? DEFAULT_REPORT_LIFETIME);
  const { extension } = deployment;
  const proofs = await publicClient.readContract({ address: extension, abi, functionName: "proofs" });
  const requireCode = async (key: string, name: ContractName, address: Address): Promise<bigint[]> => {
    const immutables = await immutablesOf(publicClient, name, address);
    if (immutables !== undefined) return immutables;
    throw new DeployFailedError(
      `the code at ${address}, the deployment's ${key}, is not that of this package: do not use the deployment`,
    );
  };
  const [elementary] = (await requireCode("verifier", "StepVerifier", deployment.verifier)) as [bigint];
  await requireCode("elementary functions", "Elementary", numberToHex(BigInt.asUintN(160, elementary), { size: 20 }));
  const addresses = { ...contractsOf(deployment), proofs };
  const bond = BigInt(parameters.bondGas) * parameters.priceCap;
  const known = { ...parameters, ...addresses, bond, gridBlocks, reportLifetime, elementary };
  for (const [key, name] of Object.entries(NAMES) as [keyof typeof NAMES, ContractName][]) {
    const address = addresses[key];
    const found = await requireCode(key, name, address);
    const names: readonly (keyof typeof known | "hash")[] = IMMUTABLES[key];
    // SAFETY: the market runs the code at such an address as its own, and that code answers for the market.
    for (const [k, each] of names.entries()) {
      if (each === "hash" || found[k] === BigInt(known[each])) continue;
      const text = (value: bigint): string => (typeof known[each] === "string" ? addressText(value) : String(value));
      throw new DeployFailedError(
        `the code at ${address}, the deployment's ${key}, has ${each} ${text(found[k] ?? 0n)}, not ` +
          `${text(BigInt(known[each]))}: do not use the deployment`,
      );
    }
  }
  return deployment;
}

/** A call takes the last 20 bytes of any word for an address. */
const addressText = (value: bigint): string => numberToHex(value, { size: value < 2n ** 160n ? 20 : 32 });

const PARAMETERS = ["rate", "maxWork", "arityBits", "maxStepGas", "maxStepBytes"] as const;
const AMOUNTS = ["priceCap", "bounty", "collateral", "penaltyBps", "sink"] as const;

/**
 * The values in each contract's immutables, in the order from `immutablesOf`. A `hash` covers names of this list, and
 * the contracts' constructors have compared the hashes.
 */
const IMMUTABLES = {
  market: [
    "vault",
    "game",
    "extension",
    "proofs",
    "provisioning",
    "baseWindow",
    "maxWindow",
    ...PARAMETERS,
    ...AMOUNTS,
  ],
  vault: ["asset", "market", "provisioning", "withdrawalDelay"],
  game: ["market", "checker", "bond", "hash", "arityBits", "baseClock", "rate", "priceCap", "sink"],
  extension: [
    ...(["vault", "game", "provisioning", "hash", "proofs", "extension", "baseWindow", "maxWindow"] as const),
    ...(["baseClock", "withdrawalDelay"] as const),
    ...PARAMETERS,
    "bondGas",
    ...AMOUNTS,
  ],
  proofs: ["vault", "game", "provisioning", "arityBits"],
  checker: ["verifier"],
  verifier: ["elementary"],
  provisioning: ["gridBlocks", "reportLifetime"],
} as const;

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
