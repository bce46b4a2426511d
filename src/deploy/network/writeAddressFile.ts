import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Deployment } from "../../chain/market/deployment.ts";
import type { AddressFile } from "../../chain/market/addressFile.ts";
import { DeployFailedError } from "./errors.ts";
import { contractsOf } from "./verifyDeployment.ts";
import { writeWholeSync } from "../../base/writeWhole.ts";
import { writeProblem } from "../../base/writable.ts";

/** Where a deployment's address file lies in a folder. */
export const addressFilePath = (folder: string, { chainId, market }: Pick<Deployment, "chainId" | "market">): string =>
  join(folder, `${chainId}-${market}.json`);

/**
 * Writes a deployment's address file: `CHAINID-MARKET.json` in a folder.
 * @param block Of the deployment: no event is older.
 * @returns Its path. @throws DeployFailedError
 */
export function writeAddressFile(folder: string, deployment: Deployment, block: bigint): string {
  const { chainId, parameters } = deployment;
  const file: AddressFile = {
    format: 1,
    chainId,
    block: Number(block),
    contracts: contractsOf(deployment),
    parameters: Object.fromEntries(
      Object.entries(parameters).map(([name, value]) => [name, typeof value === "bigint" ? String(value) : value]),
    ),
  };
  const path = addressFilePath(folder, deployment);
  try {
    mkdirSync(folder, { recursive: true });
    writeWholeSync(path, `${JSON.stringify(file, null, 2)}\n`);
  } catch (cause) {
    throw new DeployFailedError(
      `the address file ${path} cannot be written: ${writeProblem(path, cause)}: name another folder with --folder`,
      { cause },
    );
  }
  return path;
}
