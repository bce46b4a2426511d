import { Command } from "commander";
import type { Address } from "viem";
import { amountText } from "../../amount.ts";
import { addExamples } from "../../globalOptions.ts";
import { moneyOf } from "../../money.ts";
import type { Output } from "../../output.ts";
import { address } from "../../parse.ts";
import { addSettings, readSettings, required } from "../../settings.ts";
import { openTickets, ticketSettings } from "./ticketMoney.ts";

const settings = { ...ticketSettings, to: required<Address>("address", "who gets them", address) };

/** `refute tickets earnings`: a worker takes what its winning tickets earned. */
export function earningsCommand(output: Output): Command {
  const command = new Command("earnings")
    .description("send what this worker's winning tickets earned to an address")
    .action(async (_options: unknown, command: Command) => {
      const values = readSettings(command, settings);
      const at = await openTickets(values);
      const earned = await at.tickets.earnings(at.account.address);
      await at.tickets.withdrawEarnings(values.to);
      output.answer(
        { earned: amountText(earned), to: values.to },
        `sent ${(await moneyOf(at.session))(earned)} to ${values.to}`,
      );
    });
  return addExamples(addSettings(command, settings), "tickets earnings --to ADDRESS --tickets ADDRESS --market CLAIMS");
}
