import type { Address } from "viem";
import { ticketSession, type TicketSession } from "../../../parties/tickets/ticketSession.ts";
import { amountText, timeText } from "../../amount.ts";
import { accountSettings, sessionFrom, type AccountSettings } from "../../chainSettings.ts";
import { loadAccount } from "../../keys.ts";
import { moneyOf } from "../../money.ts";
import type { Output } from "../../output.ts";
import { address } from "../../parse.ts";
import { required } from "../../settings.ts";

/** The settings for commands about ticket money. */
export const ticketSettings = {
  ...accountSettings,
  tickets: required<Address>("address", "the contract of the tickets; --market is that of its claims", address),
};
/** The settings of a payer. */
export const payerSettings = {
  ...ticketSettings,
  worker: required<Address>("address", "the worker whom it is for", address),
};

/** The session of a command about tickets. */
export const openTickets = async (values: AccountSettings & { tickets: Address }): Promise<TicketSession> =>
  ticketSession(await sessionFrom(values), values.tickets, await loadAccount(values));

/** Answers with a payer's deposit for a worker. */
export async function answerDeposit(
  output: Output,
  { session, tickets, account }: TicketSession,
  worker: Address,
): Promise<void> {
  const { free, withdrawing, readyAt } = await tickets.depositOf(account.address, worker);
  const money = await moneyOf(session);
  const asked = withdrawing > 0n ? `, asked back ${money(withdrawing)}, ready at ${timeText(readyAt)}` : "";
  output.answer(
    { payer: account.address, worker, free: amountText(free), askedBack: amountText(withdrawing), readyAt },
    `deposit ${money(free)} for ${worker}${asked}`,
  );
}
