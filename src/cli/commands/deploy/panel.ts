import { Command } from "commander";
import { addToAddressFile } from "../../../deploy/network/addToAddressFile.ts";
import { accountSettings } from "../../chainSettings.ts";
import { addExamples } from "../../globalOptions.ts";
import type { Output } from "../../output.ts";
import { filePath, whole } from "../../parse.ts";
import { addSettings, defaulted, readSettings } from "../../settings.ts";
import { programWords } from "../../words/programWords.ts";
import { openDeployer } from "./besideMarket.ts";

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
      const { market, folder } = values;
      const { deployer, deployment } = await openDeployer("panel", values, output);
      const { deployPanel } = await import("../../../deploy/network/deployContracts.ts");
      const panel = await deployPanel(deployer, market);
      const addressFile = addToAddressFile(folder, deployment, { panel }) ?? null;
      output.answer({ panel, market, addressFile }, [
        `panels ${panel}; keep the journal ${deployer.journal}`,
        "To ask several workers:",
        `  ${programWords()} panel post model.onnx --input x=x.npy --seats 3 --fee 0.05 --panel ${panel} --wait`,
      ]);
    });
  return addExamples(addSettings(command, settings), "deploy panel --keystore key.json");
}
