import { Command } from "commander";
import { amountAboveZero } from "../../amount.ts";
import { addExamples } from "../../globalOptions.ts";
import type { Output } from "../../output.ts";
import { as } from "../../parse.ts";
import { addSettings, readSettings } from "../../settings.ts";
import { answerDeposit, openTickets, payerSettings } from "./ticketMoney.ts";

/** `refute tickets deposit`: a payer adds to the deposit from which a worker's winning tickets are paid. */
export function depositCommand(output: Output): Command {
  const command = new Command("deposit")
    .description("add stake asset of this account to its deposit for a worker: winning tickets are paid from it")
    .argument("<amount>", "such as 0.5, in whole units of the stake asset, or 50gwei", as(amountAboveZero, "AMOUNT"))
    .action(async (amount: bigint, _options: unknown, command: Command) => {
      const values = readSettings(command, payerSettings);
      const at = await openTickets(values);
      await at.session.asset.approve(values.tickets, amount);
      await at.tickets.deposit(at.account.address, values.worker, amount);
      await answerDeposit(output, at, values.worker);
    });
  return addExamples(
    addSettings(command, payerSettings),
    "tickets deposit 0.5 --worker ADDRESS --tickets ADDRESS --market CLAIMS",
  );
}
