import { join } from "node:path";
import { requirePackages } from "../../../base/optionalPackage.ts";
import { connect } from "../../../chain/connect.ts";
import { readDeployment, type Deployment } from "../../../chain/market/deployment.ts";
import type { Deployer } from "../../../deploy/network/deployContracts.ts";
import { accountSettings } from "../../chainSettings.ts";
import { requireFolder } from "../../folders.ts";
import { loadAccount } from "../../keys.ts";
import type { Output } from "../../output.ts";
import type { SettingValues } from "../../settings.ts";

type Values = SettingValues<typeof accountSettings> & { folder: string; confirmations: number };

/**
 * Opens the account that deploys something beside a market, after all checks that cost nothing.
 * @param what The command's own word, also part of the journal's name.
 * @returns the deployer with its journal, and the market's deployment
 */
export async function openDeployer(
  what: "panel" | "tickets" | "validator",
  values: Values,
  output: Output,
): Promise<{ deployer: Deployer & { journal: string }; deployment: Deployment }> {
  const { rpcUrl, chainId, market, folder, confirmations } = values;
  requireFolder("--folder", folder);
  requirePackages(["@nomicfoundation/ignition-core"], `refute deploy ${what}`);
  const account = await loadAccount(values);
  const publicClient = await connect({ rpcUrls: rpcUrl }, chainId);
  const deployment = await readDeployment(publicClient, market);
  const journal = join(folder, `${chainId}-${market}-${what}-journal`);
  const onSent = (sent: string): void => output.note(`sent ${sent}`);
  return { deployer: { publicClient, account, journal, confirmations, onSent }, deployment };
}
