import { Command } from "commander";
import { amountAboveZero } from "../../amount.ts";
import { addExamples } from "../../globalOptions.ts";
import type { Output } from "../../output.ts";
import { as } from "../../parse.ts";
import { addSettings, readSettings } from "../../settings.ts";
import { answerDeposit, openTickets, payerSettings } from "./ticketMoney.ts";

/** `refute tickets withdraw`: a payer takes back what no ticket was paid from. */
export function withdrawCommand(output: Output): Command {
  const command = new Command("withdraw")
    .description("ask a part of a deposit back; without an amount, take what was asked back and is ready")
    .argument("[amount]", "such as 0.5, in whole units of the stake asset, or 50gwei", as(amountAboveZero, "AMOUNT"))
    .action(async (amount: bigint | undefined, _options: unknown, command: Command) => {
      const values = readSettings(command, payerSettings);
      const at = await openTickets(values);
      await (amount === undefined
        ? at.tickets.withdraw(values.worker)
        : at.tickets.requestWithdrawal(values.worker, amount));
      await answerDeposit(output, at, values.worker);
    });
  return addExamples(
    addSettings(command, payerSettings),
    "tickets withdraw 0.5 --worker ADDRESS --tickets ADDRESS --market CLAIMS",
  );
}
