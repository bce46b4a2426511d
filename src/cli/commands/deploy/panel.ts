import { Command } from "commander";
import { join } from "node:path";
import { connect } from "../../../chain/connect.ts";
import { addToAddressFile } from "../../../deploy/network/addToAddressFile.ts";
import { readDeployment } from "../../../chain/market/deployment.ts";
import { accountSettings } from "../../chainSettings.ts";
import { addExamples } from "../../globalOptions.ts";
import { loadAccount } from "../../keys.ts";
import { requirePackages } from "../../../base/optionalPackage.ts";
import type { Output } from "../../output.ts";
import { filePath, whole } from "../../parse.ts";
import { addSettings, defaulted, readSettings } from "../../settings.ts";
import { programWords } from "../../words/programWords.ts";
import { requireFolder } from "../../folders.ts";

const settings = {
  ...accountSettings,
  folder: defaulted("folder", "where the journal goes, and the address file is", filePath, "deployments"),
  confirmations: defaulted("blocks", "on top of the transaction", whole(1), 5),
};

/** `refute deploy panel`: deploys the contract of panels beside a market. */
export function deployPanelCommand(output: Output): Command {
  const command = new Command("panel")
    .description("deploy panels beside a market for good: one question to several workers")
    .action(async (_options: unknown, command: Command) => {
      const values = readSettings(command, settings);
      const { rpcUrl, chainId, market, folder, confirmations } = values;
      requireFolder("--folder", folder);
      requirePackages(["@nomicfoundation/ignition-core"], "refute deploy panel");
      const account = await loadAccount(values);
      const publicClient = await connect({ rpcUrls: rpcUrl }, chainId);
      const deployment = await readDeployment(publicClient, market);
      const { deployPanel } = await import("../../../deploy/network/deployContracts.ts");
      const journal = join(folder, `${chainId}-${market}-panel-journal`);
      const onSent = (what: string): void => output.note(`sent ${what}`);
      const panel = await deployPanel({ publicClient, account, journal, confirmations, onSent }, market);
      const addressFile = addToAddressFile(folder, deployment, { panel }) ?? null;
      output.answer({ panel, market, addressFile }, [
        `panels ${panel}; keep the journal ${journal}`,
        "To ask several workers:",
        `  ${programWords()} panel post model.onnx --input x=x.npy --seats 3 --fee 0.05 --panel ${panel} --wait`,
      ]);
    });
  return addExamples(addSettings(command, settings), "deploy panel --keystore key.json");
}
