import { Command } from "commander";
import type { Address } from "viem";
import { loadAccount } from "../../keys.ts";
import { ticketSession, type TicketSession } from "../../../parties/tickets/ticketSession.ts";
import { amountAboveZero, amountText, timeText } from "../../amount.ts";
import { accountSettings, sessionFrom, type AccountSettings } from "../../chainSettings.ts";
import { addExamples } from "../../globalOptions.ts";
import type { Output } from "../../output.ts";
import { address, as } from "../../parse.ts";
import { addSettings, readSettings, required } from "../../settings.ts";

const settings = {
  ...accountSettings,
  tickets: required<Address>("address", "the contract of the tickets; --market is that of its claims", address),
};
const payerSettings = { ...settings, worker: required<Address>("address", "the worker whom it is for", address) };
const workerSettings = { ...settings, to: required<Address>("address", "who gets them", address) };
const amountOf = as(amountAboveZero, "AMOUNT");

/** `refute tickets`: a payer's deposits and a worker's earnings. */
export function ticketsCommand(output: Output): Command {
  const command = new Command("tickets")
    .description("lottery tickets: a payer's deposits for workers, and a worker's earnings")
    .usage("deposit|withdraw|earnings ...");
  for (const part of [depositPart, withdrawPart, earningsPart]) command.addCommand(part(output));
  return addExamples(
    command,
    "tickets deposit 0.5 --worker ADDRESS --tickets ADDRESS --market CLAIMS",
    "tickets earnings --to ADDRESS --tickets ADDRESS --market CLAIMS",
  );
}

const open = async (values: AccountSettings & { tickets: Address }): Promise<TicketSession> =>
  ticketSession(await sessionFrom(values), values.tickets, await loadAccount(values));

/** Answers with a payer's deposit for a worker. */
async function answerDeposit(output: Output, { tickets, account }: TicketSession, worker: Address): Promise<void> {
  const { free, withdrawing, readyAt } = await tickets.depositOf(account.address, worker);
  const asked = withdrawing > 0n ? `, asked back ${amountText(withdrawing)}, ready at ${timeText(readyAt)}` : "";
  output.answer(
    { payer: account.address, worker, free: amountText(free), askedBack: amountText(withdrawing), readyAt },
    `deposit ${amountText(free)} for ${worker}${asked}`,
  );
}

function depositPart(output: Output): Command {
  const command = new Command("deposit")
    .description("add stake asset of this account to its deposit for a worker: winning tickets are paid from it")
    .argument("<amount>", "such as 0.5, in whole units of the stake asset, or 50gwei", amountOf)
    .action(async (amount: bigint, _options: unknown, command: Command) => {
      const values = readSettings(command, payerSettings);
      const at = await open(values);
      await at.session.asset.approve(values.tickets, amount);
      await at.tickets.deposit(at.account.address, values.worker, amount);
      await answerDeposit(output, at, values.worker);
    });
  return addSettings(command, payerSettings);
}

function withdrawPart(output: Output): Command {
  const command = new Command("withdraw")
    .description("ask a part of a deposit back; without an amount, take what was asked back and is ready")
    .argument("[amount]", "such as 0.5, in whole units of the stake asset, or 50gwei", amountOf)
    .action(async (amount: bigint | undefined, _options: unknown, command: Command) => {
      const values = readSettings(command, payerSettings);
      const at = await open(values);
      await (amount === undefined
        ? at.tickets.withdraw(values.worker)
        : at.tickets.requestWithdrawal(values.worker, amount));
      await answerDeposit(output, at, values.worker);
    });
  return addSettings(command, payerSettings);
}

function earningsPart(output: Output): Command {
  const command = new Command("earnings")
    .description("send what this worker's winning tickets earned to an address")
    .action(async (_options: unknown, command: Command) => {
      const values = readSettings(command, workerSettings);
      const at = await open(values);
      const earned = await at.tickets.earnings(at.account.address);
      await at.tickets.withdrawEarnings(values.to);
      output.answer({ earned: amountText(earned), to: values.to }, `sent ${amountText(earned)} to ${values.to}`);
    });
  return addSettings(command, workerSettings);
}
