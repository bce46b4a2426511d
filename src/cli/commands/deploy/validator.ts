import { Command } from "commander";
import type { Address } from "viem";
import { addToAddressFile } from "../../../deploy/network/addToAddressFile.ts";
import { accountSettings } from "../../chainSettings.ts";
import { addExamples } from "../../globalOptions.ts";
import type { Output } from "../../output.ts";
import { address, filePath, whole } from "../../parse.ts";
import { addSettings, defaulted, readSettings, required } from "../../settings.ts";
import { programWords } from "../../words/programWords.ts";
import { openDeployer } from "./besideMarket.ts";

const settings = {
  ...accountSettings,
  registry: required<Address>("address", "ERC-8004's validation registry on this chain", address),
  folder: defaulted("folder", "where the journal goes, and the address file is", filePath, "deployments"),
  confirmations: defaulted("blocks", "on top of the transaction", whole(1), 5),
};

/** `refute deploy validator`: deploys a validator for ERC-8004 beside a market or pledged claims. */
export function deployValidatorCommand(output: Output): Command {
  const command = new Command("validator")
    .description("deploy a validator for ERC-8004 for good: 100 for final claims of --market, 0 for refuted ones")
    .action(async (_options: unknown, command: Command) => {
      const values = readSettings(command, settings);
      const { market, registry, folder } = values;
      const { deployer, deployment } = await openDeployer("validator", values, output);
      const { deployValidator } = await import("../../../deploy/network/deployContracts.ts");
      const validator = await deployValidator(deployer, { registry, claims: market });
      const addressFile = addToAddressFile(folder, deployment, { validator }) ?? null;
      output.answer({ validator, registry, claims: market, addressFile }, [
        `validator ${validator}; keep the journal ${deployer.journal}`,
        "To have the claim of a receipt validated:",
        `  ${programWords()} text validate answer.json --agent N --validator ${validator} ...`,
      ]);
    });
  return addExamples(
    addSettings(command, settings),
    "deploy validator --market CLAIMS --registry 0x... --keystore key.json",
  );
}
