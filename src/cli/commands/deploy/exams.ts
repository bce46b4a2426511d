import { Command } from "commander";
import { join } from "node:path";
import { connect } from "../../../chain/connect.ts";
import { readDeployment } from "../../../chain/market/deployment.ts";
import { openExams } from "../../../attestation/exams/openExams.ts";
import { OWN_EXAM_PLAN, readExamPlan } from "../../../deploy/network/examClasses.ts";
import { addToAddressFile } from "../../../deploy/network/addToAddressFile.ts";
import { accountSettings, sessionFrom } from "../../chainSettings.ts";
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
  zoo: defaulted("file", "its classes, odds and spacing (JSON5)", filePath, OWN_EXAM_PLAN),
  folder: defaulted("folder", "where the journal goes, and the address file is", filePath, "deployments"),
  confirmations: defaulted("blocks", "on top of the transaction", whole(1), 5),
};

/** `refute deploy exams`: deploys exams beside a market. */
export function deployExamsCommand(output: Output): Command {
  const command = new Command("exams")
    .description("deploy the exams of a market's workers for good: a zoo of programs, each with a time")
    .action(async (_options: unknown, command: Command) => {
      const values = readSettings(command, settings);
      const { rpcUrl, chainId, market, folder, confirmations } = values;
      requireFolder("--folder", folder);
      requirePackages(["@nomicfoundation/ignition-core"], "refute deploy exams");
      const plan = readExamPlan(values.zoo);
      const account = await loadAccount({ keystore: values.keystore });
      const publicClient = await connect({ rpcUrls: rpcUrl }, chainId);
      const deployment = await readDeployment(publicClient, market);
      const { provisioning } = deployment;
      const { deployExams } = await import("../../../deploy/network/deployContracts.ts");
      const journal = join(folder, `${chainId}-${provisioning}-exams-journal`);
      const onSent = (what: string): void => output.note(`sent ${what}`);
      const exams = await deployExams({ publicClient, account, journal, confirmations, onSent }, provisioning, plan);
      const { classes } = await openExams(await sessionFrom(values), exams);
      const addressFile = addToAddressFile(folder, deployment, { exams }) ?? null;
      output.answer({ exams, provisioning, classes, addressFile }, [
        `exams ${exams} of ${classes.length} classes; keep the journal ${journal}`,
        "To sit them:",
        `  ${programWords()} worker --models models.json --dongle dongle/dongle.sock --exams ${exams}`,
      ]);
    });
  return addExamples(
    addSettings(command, settings),
    "deploy exams --keystore key.json",
    "deploy exams --zoo zoo.json5 --keystore key.json",
  );
}
