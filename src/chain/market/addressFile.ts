import { getAddress, type Address } from "viem";
import { AddressFileError } from "./errors.ts";
import { Fields } from "../../base/fields.ts";

/** A deployment's contracts, by their names in the address file. */
export const DEPLOYED = ["market", "vault", "game", "provisioning", "verifier", "asset"] as const;

/** Where a deployment lies: `deployments/CHAINID-MARKET.json`, which `refute deploy` writes. */
export type AddressFile = {
  /** The format number of address files: 1. */
  format: 1;
  chainId: number;
  /** The block of the deployment: no event is older. */
  block: number;
  /** The contracts: at least the names in `DEPLOYED`, possibly more. */
  contracts: Readonly<Record<(typeof DEPLOYED)[number], Address> & Record<string, Address>>;
  /** The market's parameters as given at deployment, for human readers. Numbers beyond 2^53 are decimal text. */
  parameters: Readonly<Record<string, number | string>>;
};

/** The data that identify a deployment for a session. `openSession` also takes an endpoint and an account. */
type DeploymentTarget = { chainId: number; market: Address; fromBlock: bigint };

/** Returns the session target for an address file's deployment. */
export const targetOf = ({ chainId, contracts, block }: AddressFile): DeploymentTarget => ({
  chainId,
  market: contracts.market,
  fromBlock: BigInt(block),
});

/**
 * Reads an address file.
 * @param from What was parsed from JSON.
 * @throws AddressFileError that names the field
 */
export function parseAddressFile(from: unknown, name = "the address file"): AddressFile {
  const fields = new Fields(from, name, AddressFileError);
  if (fields.count("format") !== 1) fields.refuse("format", "1");
  const contracts = fields.object("contracts");
  const addresses = new Set([...DEPLOYED, ...contracts.names()]);
  const parameters = fields.object("parameters");
  return {
    format: 1,
    chainId: fields.count("chainId", 1),
    block: fields.count("block"),
    contracts: Object.fromEntries(
      [...addresses].map((contract) => [contract, getAddress(contracts.hex(contract, 20))]),
    ) as AddressFile["contracts"],
    parameters: Object.fromEntries(parameters.names().map((parameter) => [parameter, parameters.scalar(parameter)])),
  };
}
