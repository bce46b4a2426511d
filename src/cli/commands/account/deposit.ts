import { Command } from "commander";
import { deposit } from "../../../chain/market/deposit.ts";
import { amountAboveZero } from "../../amount.ts";
import { accountSettings, sessionFrom } from "../../chainSettings.ts";
import { addExamples } from "../../globalOptions.ts";
import { answerLedger } from "../../ledger.ts";
import type { Output } from "../../output.ts";
import { as } from "../../parse.ts";
import { addSettings, readSettings } from "../../settings.ts";

/** `refute account deposit`: tokens become credit in the vault. */
export function depositCommand(output: Output): Command {
  const command = new Command("deposit")
    .description("move stake asset of this account into the vault, as its credit")
    .argument("<amount>", "such as 0.5, in whole units of the stake asset, or 50gwei", as(amountAboveZero, "AMOUNT"))
    .action(async (amount: bigint, _options: unknown, command: Command) => {
      const session = await sessionFrom(readSettings(command, accountSettings));
      await deposit(session, amount);
      await answerLedger(output, session);
    });
  return addExamples(addSettings(command, accountSettings), "account deposit 0.5");
}
