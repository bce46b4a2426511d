import { existsSync } from "node:fs";
import type { Address } from "viem";
import type { Deployment } from "../../chain/market/deployment.ts";
import { readAddressFile } from "../../chain/market/readAddressFile.ts";
import { DeployFailedError } from "./errors.ts";
import { addressFilePath } from "./writeAddressFile.ts";
import { writeWholeSync } from "../../base/writeWhole.ts";
import { writeProblem } from "../../base/writable.ts";

/**
 * Adds contracts deployed next to a market to the market's address file.
 * @returns the file's path, or undefined if the folder has no address file
 * @throws DeployFailedError, AddressFileError
 */
export function addToAddressFile(
  folder: string,
  deployment: Pick<Deployment, "chainId" | "market">,
  contracts: Readonly<Record<string, Address | undefined>>,
): string | undefined {
  const path = addressFilePath(folder, deployment);
  if (!existsSync(path)) return undefined;
  const file = readAddressFile(path);
  const added = { ...file, contracts: { ...file.contracts, ...contracts } };
  try {
    writeWholeSync(path, `${JSON.stringify(added, null, 2)}\n`);
  } catch (cause) {
    throw new DeployFailedError(`the address file ${path} cannot be written: ${writeProblem(path, cause)}`, { cause });
  }
  return path;
}
