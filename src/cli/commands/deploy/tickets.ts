import { Command } from "commander";
import type { Address } from "viem";
import { addToAddressFile } from "../../../deploy/network/addToAddressFile.ts";
import { readDeployment } from "../../../chain/market/deployment.ts";
import { accountSettings } from "../../chainSettings.ts";
import { addExamples } from "../../globalOptions.ts";
import type { Output } from "../../output.ts";
import { address, filePath, whole } from "../../parse.ts";
import { addSettings, defaulted, optional, readSettings } from "../../settings.ts";
import { openDeployer } from "./besideMarket.ts";

const settings = {
  ...accountSettings,
  exams: optional<Address>("address", "exams of the market: their wrong roots can be challenged", address, "none"),
  folder: defaulted("folder", "where the journal goes, and the address file is", filePath, "deployments"),
  confirmations: defaulted("blocks", "on top of a transaction before the next one", whole(1), 5),
};

/** `refute deploy tickets`: deploys pledged claims and lottery tickets beside a market. */
export function deployTicketsCommand(output: Output): Command {
  const command = new Command("tickets")
    .description("deploy pledged claims and lottery tickets beside a market for good, with its parameters")
    .action(async (_options: unknown, command: Command) => {
      const values = readSettings(command, settings);
      const { folder, exams } = values;
      const { deployer, deployment } = await openDeployer("tickets", values, output);
      const { deployTickets } = await import("../../../deploy/network/deployContracts.ts");
      const made = await deployTickets(deployer, { deployment, exams });
      // The contract's parameters are read like any market's.
      await readDeployment(deployer.publicClient, made.claims);
      const file = addToAddressFile(folder, deployment, { ...made, ...(exams !== undefined && { exams }) });
      output.answer({ ...made, exams, addressFile: file ?? null }, [
        `tickets ${made.tickets}, pledged claims ${made.claims}; keep the journal ${deployer.journal}`,
        ...(made.examClaims === undefined ? [] : [`exams are challenged at ${made.examClaims}`]),
        ...(file === undefined ? [] : [`address file ${file} has them`]),
        "To use them, a worker: refute account deposit, account stake and tickets pledge, each with",
        `  --market ${made.claims}`,
        "then refute tickets serve, and a payer refute tickets deposit and tickets ask, each with",
        `  --market ${made.claims} --tickets ${made.tickets}`,
      ]);
    });
  return addExamples(
    addSettings(command, settings),
    "deploy tickets --keystore key.json",
    "deploy tickets --exams 0x... --keystore key.json",
  );
}
