import type { Account } from "../chain/clients/stakeVault.ts";
import type { Session } from "../chain/market/session.ts";
import { amountText, timeText } from "./amount.ts";
import { moneyOf, type Money } from "./money.ts";
import type { Output } from "./output.ts";

/** An account's ledger in a line. */
export function ledgerText({ credit, staked, locked, withdrawing, readyAt }: Account, money: Money): string {
  const parts = [`credit ${money(credit)}`, `staked ${money(staked)}`, `locked ${money(locked)}`];
  if (withdrawing > 0n) parts.push(`asked back ${money(withdrawing)}, ready at ${timeText(readyAt)}`);
  return parts.join(", ");
}

/** An account's ledger for JSON: amounts in whole units. */
export const ledgerJson = ({ credit, staked, locked, withdrawing, readyAt }: Account) => ({
  credit: amountText(credit),
  staked: amountText(staked),
  locked: amountText(locked),
  ...(withdrawing > 0n && { askedBack: amountText(withdrawing), readyAt: timeText(readyAt) }),
});

/** Answers with the account's ledger after a command. */
export async function answerLedger(output: Output, session: Session): Promise<void> {
  const { sender, vault } = session;
  const account = await vault.accountOf(sender.address);
  output.answer({ account: sender.address, ...ledgerJson(account) }, ledgerText(account, await moneyOf(session)));
}
