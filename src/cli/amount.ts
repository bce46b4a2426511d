import { formatUnits, parseUnits } from "viem";
import type { Account } from "../chain/clients/stakeVault.ts";
import { UsageError } from "./errors.ts";

const DECIMALS = 18;

/**
 * An amount in whole units of the stake asset, more than 0. More decimals than the asset has are refused, not rounded.
 * @param name Of the flag, if it was given by one.
 * @returns It in the smallest unit.
 * @throws UsageError
 */
export function parseAmount(text: string, name?: string): bigint {
  const amount = parse(text);
  if (amount === undefined || amount === 0n) throw noAmount(text, name, "over 0, ");
  return amount;
}

/** The same, or 0. @throws UsageError */
export function parseAmountOrZero(text: string, name: string): bigint {
  const amount = parse(text);
  if (amount === undefined) throw noAmount(text, name, "");
  return amount;
}

const parse = (text: string): bigint | undefined =>
  /^\d+(\.\d{1,18})?$/.test(text) ? parseUnits(text, DECIMALS) : undefined;

function noAmount(text: string, name: string | undefined, least: string): UsageError {
  const given = name === undefined ? text : `${name} ${text}`;
  return new UsageError(
    `${given} is no amount: whole units of the stake asset, ${least}up to ${DECIMALS} decimals, such as 0.5`,
  );
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
