import { formatUnits, parseUnits } from "viem";
import type { Account } from "../chain/clients/stakeVault.ts";
import { UsageError } from "./errors.ts";

const DECIMALS = 18;

/** An amount in whole units of the stake asset, more than 0. @returns It in the smallest unit. @throws UsageError */
export function parseAmount(text: string): bigint {
  const amount = /^\d+(\.\d{1,18})?$/.test(text) ? parseUnits(text, DECIMALS) : 0n;
  if (amount === 0n) {
    throw new UsageError(
      `${text} is no amount: whole units of the stake asset, over 0, up to 18 decimals, such as 0.5`,
    );
  }
  return amount;
}

/** An amount in whole units. */
export const amountText = (amount: bigint): string => formatUnits(amount, DECIMALS);

/** An account's ledger in a line. */
export function ledgerText({ credit, staked, locked, withdrawing, readyAt }: Account): string {
  const parts = [`credit ${amountText(credit)}`, `staked ${amountText(staked)}`, `locked ${amountText(locked)}`];
  if (withdrawing > 0n) parts.push(`asked back ${amountText(withdrawing)}, ready at ${timeText(readyAt)}`);
  return parts.join(", ");
}

/** A time on the chain's clock, unix seconds. */
export const timeText = (seconds: bigint): string => new Date(Number(seconds) * 1_000).toISOString();
