import { formatEther, formatGwei, type Address } from "viem";
import type { Problem } from "../../base/health.ts";

/**
 * Required balance, in percent of the gas cost at the current price. A pool accepts a transaction only if the account
 * covers the whole gas limit (15 % above the estimate) at the maximum fee (a fifth above the price): 138 %.
 */
const NEEDED_PERCENT = 150n;

/**
 * Checks that the account's ether covers gas: pools then accept the transactions.
 * @param gas Gas that may be needed. @param purpose The purpose of the gas.
 * @returns undefined if the balance suffices.
 */
export function shortOfGas(
  { balance, gasPrice, owner }: { balance: bigint; gasPrice: bigint; owner: Address },
  gas: number,
  purpose: string,
): Problem | undefined {
  const cost = (BigInt(gas) * gasPrice * NEEDED_PERCENT) / 100n;
  if (balance >= cost) return undefined;
  const reason =
    `the account has ${formatEther(balance)} ether, but ${purpose} may take ${formatEther(cost)} ` +
    `(${gas} gas at ${formatGwei(gasPrice)} gwei): send ether to ${owner}`;
  return { reason };
}
